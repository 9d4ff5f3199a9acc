package main

import (
	"math"
	"time"
)

type alert struct {
	id, typ   string
	threshold float64
	key       *apiKey
	h         *hook
	fired     time.Time
	created   time.Time
}

func (a *alert) record() M {
	return M{"alert_id": a.id, "id": a.id, "type": a.typ, "threshold": a.threshold, "webhook_url": a.h.url, "created_at": iso(a.created)}
}
func createAlert(c *ctx) {
	m, ok := c.body()
	if !ok {
		return
	}
	for _, f := range []string{"type", "threshold", "webhook_url"} {
		if m[f] == nil {
			c.missing(f)
			return
		}
	}
	typ, _ := m["type"].(string)
	if typ != "rate_limit" && typ != "token_quota" {
		c.invalid("type", "unknown")
		return
	}
	th, ok := number(m["threshold"])
	if !ok || th <= 0 || th > 100 {
		c.invalid("threshold", "not a percentage")
		return
	}
	u, _ := m["webhook_url"].(string)
	if !goodURL(u) {
		c.invalid("webhook_url", "not a URL")
		return
	}
	mu.Lock()
	a := &alert{id: newID("alr_"), typ: typ, threshold: th, key: c.key, created: now(), h: &hook{url: u, status: "active"}}
	alerts = append(alerts, a)
	b := a.record()
	mu.Unlock()
	c.send(201, b)
}
func alertsDue(k *apiKey, t time.Time) (out []func()) { // with mu held
	for _, a := range alerts {
		if a.key != k {
			continue
		}
		pm, ph := 100*float64(k.minute.used(t))/float64(k.tier.minute), 100*float64(k.hour.used(t))/float64(k.tier.hour)
		p, win, dur := pm, "minute", time.Minute
		if ph > pm {
			p, win, dur = ph, "hour", time.Hour
		}
		if a.typ == "token_quota" {
			p, win, dur = 100*float64(k.tokensUsed(t))/float64(k.tier.tokens), "month", 31*24*time.Hour
		}
		if p < a.threshold || !a.fired.IsZero() && t.Sub(a.fired) < dur {
			continue
		}
		a.fired = t
		id := newID("evt_")
		body := marshal(dress(M{"id": id, "type": "usage.alert", "created": iso(t), "agent_id": "", "data": M{"alert_id": a.id, "type": a.typ, "threshold": a.threshold, "used_percent": math.Round(p*10) / 10, "window": win}}))
		enqueue(a.h, id, "usage.alert", body)
	}
	return nil
}
