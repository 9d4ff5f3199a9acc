package main

import (
	"net"
	"time"
)

func (c *ctx) admit() bool {
	mu.Lock()
	t, k := now(), c.key
	hm := k.hourMax(t)
	mUsed, hUsed := k.minute.used(t), k.hour.used(t)
	mFull, hFull := mUsed >= k.tier.minute, hUsed >= hm
	if on["lim-hour-not-stream"] && c.route == "stream" {
		hFull = false
	}
	if mFull || hFull {
		code, limit, reset, why := "RATE_LIMIT_EXCEEDED", k.tier.minute, k.minute.free(t, k.tier.minute), "minute"
		if hFull {
			if r := k.hour.free(t, hm); !mFull || r.After(reset) {
				limit, reset, why = k.tier.hour, r, "hour"
			}
			if on["err-code-hour"] {
				code = "HOURLY_LIMIT"
			}
		}
		mu.Unlock()
		c.limited(code, why, limit, 0, reset, t, false)
		return false
	}
	slot := !(on["lim-slots-streams-unheld"] && c.route == "stream")
	if slot && k.slots(t) >= k.conc() {
		mu.Unlock()
		c.limited("RATE_LIMIT_EXCEEDED", "concurrency", k.tier.conc, 0, t.Add(time.Second), t, false)
		return false
	}
	k.minute.at = append(k.minute.at, t)
	k.hour.at = append(k.hour.at, t)
	c.counted = t
	k.total++
	k.lastUsed = t
	if k.first.IsZero() {
		k.first = t
	}
	if slot {
		k.active++
		c.held = true
	}
	fire := alertsDue(k, t)
	mu.Unlock()
	for _, f := range fire {
		f()
	}
	return true
}
func (c *ctx) release() {
	mu.Lock()
	defer mu.Unlock()
	if c.held {
		c.held = false
		c.key.active--
		if c.aborted && on["lim-slot-leak-abort"] {
			c.key.leaks = append(c.key.leaks, now().Add(time.Minute))
		} else if c.aborted && on["slot-release-late"] {
			c.key.leaks = append(c.key.leaks, now().Add(2*time.Second))
		}
	}
}

func (c *ctx) tokensLeft() bool {
	mu.Lock()
	t := now()
	u, l := c.key.tokensUsed(t), c.key.tier.tokens
	if u >= l {
		c.uncount()
		mu.Unlock()
		end := time.Date(t.Year(), t.Month()+1, 1, 0, 0, 0, 0, time.UTC)
		c.limited("RATE_LIMIT_EXCEEDED", "tokens", l, 0, end, t, on["err-no-retry-after-tokens"])
		return false
	}
	mu.Unlock()
	return true
}

func inList(ip string, list []string) bool {
	a := net.ParseIP(ip)
	for _, l := range list {
		if _, n, err := net.ParseCIDR(l); err == nil && n.Contains(a) {
			return true
		}
	}
	return false
}
