package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"
)

func enqueue(h *hook, id, typ string, body []byte) { // with mu held
	d := &delivery{id: newID("dlv_"), event: id, typ: typ, status: "pending", body: body, h: h, due: now(), created: now()}
	h.deliveries = append(h.deliveries, d)
	pending = append(pending, d)
	nudge()
}
func deliverLoop() {
	for {
		select {
		case <-wake:
		case <-time.After(100 * time.Millisecond):
		}
		mu.Lock()
		t, rest := now(), pending[:0]
		for _, d := range pending {
			if d.status != "pending" || d.h.gone {
				continue
			}
			rest = append(rest, d)
			if !d.busy && !d.due.After(t) {
				d.busy = true
				go d.try()
			}
		}
		pending = rest
		mu.Unlock()
	}
}

var sender *http.Client

func makeSender() {
	w := 3 * time.Second
	if on["receiver-patience"] {
		w = 10 * time.Second
	}
	dial := &net.Dialer{Timeout: w, Control: func(_, address string, _ syscall.RawConn) error {
		h, _, _ := net.SplitHostPort(address)
		if ip := net.ParseIP(h); !*remote && (ip == nil || !ip.IsLoopback()) {
			return errors.New("only loopback")
		}
		return nil
	}}
	sender = &http.Client{Timeout: w, Transport: &http.Transport{DialContext: dial.DialContext, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
func sign(secret string, b []byte) string {
	m := hmac.New(sha256.New, []byte(secret))
	m.Write(b)
	return hex.EncodeToString(m.Sum(nil))
}
func (d *delivery) try() {
	began := clock()
	real := time.Now()
	a := attempt{at: began}
	req, err := http.NewRequest("POST", d.h.url, bytes.NewReader(d.body))
	if err == nil {
		if u, e := url.Parse(d.h.url); e == nil && !*remote && u.Hostname() != "localhost" && !net.ParseIP(u.Hostname()).IsLoopback() {
			err = errors.New("only loopback")
		}
	}
	if err == nil {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("User-Agent", "agent-hosting-webhooks/1")
		req.Header.Set("X-Event-Type", d.typ)
		req.Header.Set("X-Delivery-Id", d.id)
		if d.h.secret != "" {
			s := sign(d.h.secret, d.body)
			if on["hook-sig-nonascii"] {
				s = sign(d.h.secret, ascii(d.body))
			}
			if on["hook-sig-upper-timeout"] && d.typ == "agent.timeout" {
				s = strings.ToUpper(s)
			}
			req.Header.Set("X-Service-Signature", s)
		}
		var res *http.Response
		if res, err = sender.Do(req); err == nil {
			io.Copy(io.Discard, io.LimitReader(res.Body, 65536))
			res.Body.Close()
			a.status = res.StatusCode
		}
	}
	if err != nil {
		a.err = err.Error()
	}
	a.ms = math.Round(float64(time.Since(real).Microseconds())/100) / 10
	good := a.status >= 200 && a.status < 300
	if on["hook-204-retried"] && a.status != 200 {
		good = false
	}
	mu.Lock()
	defer mu.Unlock()
	d.attempts = append(d.attempts, a)
	d.busy = false
	n := len(d.attempts)
	switch {
	case good:
		d.status = "delivered"
		if d.h.status == "failed" && !on["hook-failed-stops"] {
			d.h.status = "active"
		}
	case n >= len(schedule):
		d.status, d.h.status = "failed", "failed"
	default:
		s := schedule[n]
		if n == 4 && on["hook-fifth-early"] {
			s = 30 * time.Minute
		}
		d.due = began.Add(s)
	}
}
