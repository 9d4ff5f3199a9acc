package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

type ctx struct {
	w       http.ResponseWriter
	r       *http.Request
	key     *apiKey
	route   string
	agent   *agent
	counted time.Time
	held    bool
	aborted bool
	plainRL bool // without the four headers
	skip    map[string]bool
}

func (c *ctx) set(name, v string) {
	if on["lowercase-headers"] {
		if name == "Content-Type" {
			c.w.Header()[name] = nil // or net/http guesses one
		}
		c.w.Header()[strings.ToLower(name)] = []string{v}
		return
	}
	c.w.Header()[name] = []string{v}
}

func (c *ctx) headers(status int) {
	mu.Lock()
	defer mu.Unlock()
	t := now()
	if on["errors-uncounted"] && (status == 400 || status == 404 || status >= 500) {
		c.uncount()
	}
	d := t
	if on["date-lags"] {
		d = d.Add(-5 * time.Second)
	}
	c.w.Header().Set("Date", d.Format(http.TimeFormat))
	if on["extra-fields"] {
		c.set("X-Served-By", "node-7")
		c.set("Server-Timing", "app;dur=1")
	}
	s := state{60, 60, t.Add(time.Minute), false}
	if c.key != nil {
		s = c.key.window(t)
		c.key.answers++
	}
	if c.plainRL || on["hdr-none-stream-400"] && status == 400 && c.route == "stream" {
		return
	}
	limit, remaining := strconv.Itoa(s.limit), strconv.Itoa(s.remaining)
	reset, after := strconv.FormatInt(int64(math.Ceil(float64(s.reset.UnixMilli())/1000)), 10), strconv.Itoa(secs(s.reset.Sub(t)))
	if on["hdr-reset-after-ms-hour"] && s.hour {
		after = strconv.FormatInt(s.reset.Sub(t).Milliseconds(), 10)
	}
	if on["hdr-reset-relative-page2"] && c.skip["page2"] {
		reset = after
	}
	if on["hdr-remaining-full-keys-usage"] && c.route == "keys" {
		remaining = limit
	}
	c.set("X-RateLimit-Limit", limit)
	if !(on["hdr-no-remaining-alert-created"] && c.route == "alerts" && status == 201) {
		c.set("X-RateLimit-Remaining", remaining)
	}
	if !(on["hdr-no-reset-500-timeout"] && c.skip["timeout"]) {
		c.set("X-RateLimit-Reset", reset)
	}
	c.set("X-RateLimit-Reset-After", after)
}

func (c *ctx) uncount() { // with mu held
	if !c.counted.IsZero() {
		c.key.minute.drop(c.counted)
		c.key.hour.drop(c.counted)
		c.key.total--
		c.counted = time.Time{}
	}
}

func marshal(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		log.Println(err)
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
func ascii(b []byte) []byte {
	var o bytes.Buffer
	for _, r := range string(b) {
		switch {
		case r < 128:
			o.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&o, "\\u%04x\\u%04x", 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&o, "\\u%04x", r)
		}
	}
	return o.Bytes()
}
func dress(v any) any { // extra-fields
	if !on["extra-fields"] {
		return v
	}
	switch x := v.(type) {
	case M:
		o := M{}
		for k, y := range x {
			if k == "dependencies" || k == "input" || k == "result" {
				o[k] = y
			} else {
				o[k] = dress(y)
			}
		}
		o["x_vendor"] = M{"n": 1.5, "list": []any{nil, true}}
		o["_links"] = []string{"self"}
		return o
	case []M:
		o := []any{}
		for _, y := range x {
			o = append(o, dress(y))
		}
		return o
	}
	return v
}

func (c *ctx) send(status int, body M) {
	c.release()
	b := marshal(dress(body))
	c.set("Content-Type", "application/json")
	c.headers(status)
	if on["json-pretty"] {
		var o bytes.Buffer
		json.Indent(&o, b, "", "\t")
		b = ascii(bytes.ReplaceAll(o.Bytes(), []byte("\n"), []byte("\r\n")))
		c.w.WriteHeader(status)
		c.w.Write(b[:len(b)/2])
		c.w.(http.Flusher).Flush()
		c.w.Write(b[len(b)/2:])
		return
	}
	if on["gzip"] && strings.Contains(c.r.Header.Get("Accept-Encoding"), "gzip") {
		var o bytes.Buffer
		z := gzip.NewWriter(&o)
		z.Write(b)
		z.Close()
		b = o.Bytes()
		c.w.Header().Set("Content-Encoding", "gzip")
		c.w.Header().Set("Vary", "Accept-Encoding")
	}
	c.w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	c.w.WriteHeader(status)
	c.w.Write(b)
}

func (c *ctx) fail(status int, code, msg string, details any) {
	if details == nil {
		details = M{}
	}
	e := M{"code": code, "message": msg, "details": details}
	if on["form-both"] {
		e["status"] = status
		if d, ok := details.(M); ok && d["retry_after"] != nil {
			e["retry_after"] = d["retry_after"]
		}
	}
	c.send(status, M{"status": "error", "error": e})
}
func (c *ctx) invalid(field, reason string) {
	if on["err-details-string-parameters"] && strings.Contains(field, "parameters.") {
		c.fail(400, "INVALID_INPUT", "The field "+field+" is not valid.", field+": "+reason)
		return
	}
	c.fail(400, "INVALID_INPUT", "The field "+field+" is not valid.", M{"field": field, "reason": reason})
}
func (c *ctx) missing(field string) {
	c.fail(400, "MISSING_REQUIRED_FIELD", "The field "+field+" is required.", M{"field": field, "reason": "missing"})
}
func (c *ctx) noAgent(id string) {
	c.fail(404, "AGENT_NOT_FOUND", "There is no such agent.", M{"agent_id": id})
}
func (c *ctx) notFound() {
	c.fail(404, "NOT_FOUND", "There is nothing at this address.", M{"path": c.r.URL.Path})
}
func (c *ctx) forbidden(why string) {
	if on["permission-401"] {
		c.fail(401, "INSUFFICIENT_SCOPE", why, M{"reason": "scope"})
		return
	}
	c.fail(403, "FORBIDDEN", why, M{"reason": "scope"})
}
func (c *ctx) limited(code, why string, limit, remaining int, reset time.Time, t time.Time, noRetry bool) {
	d := M{"limit": limit, "remaining": remaining, "reset_at": iso(reset), "retry_after": max(1, secs(reset.Sub(t))), "reason": why}
	if on["err-reset-at-unix-get"] && c.r.Method == "GET" {
		d["reset_at"] = reset.Unix()
	}
	if noRetry {
		delete(d, "retry_after")
	}
	status := 429
	if on["err-503-slots-batch"] && c.route == "batch" && why == "concurrency" {
		status = 503
	}
	c.fail(status, code, "The limit is exceeded ("+why+").", d)
}

// counts the request and takes a slot, or answers 429
