package main

import (
	"math"
	"net/url"
	"strings"
	"time"
)

type hook struct {
	id, url, agentID, secret, status string
	events                           []string
	created                          time.Time
	deliveries                       []*delivery
	gone                             bool
}
type attempt struct {
	at     time.Time
	status int
	err    string
	ms     float64
}
type delivery struct {
	id, event, typ, status string
	body                   []byte
	h                      *hook
	attempts               []attempt
	due                    time.Time
	busy                   bool
	created                time.Time
}

var eventTypes = []string{"agent.invoked", "agent.completed", "agent.failed", "agent.timeout", "deployment.created", "deployment.updated", "deployment.deleted", "deployment.health_changed"}
var schedule = []time.Duration{0, time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour}
var pending []*delivery
var wake = make(chan struct{}, 1)

func nudge() {
	select {
	case wake <- struct{}{}:
	default:
	}
}
func (h *hook) record() M {
	m := M{"webhook_id": h.id, "id": h.id, "url": h.url, "events": h.events, "status": h.status, "created_at": iso(h.created)}
	if h.agentID != "" {
		m["agent_id"] = h.agentID
	}
	return m
}
func (h *hook) wants(typ string, a *agent) bool {
	if h.gone || h.status == "failed" && on["hook-failed-stops"] {
		return false
	}
	if h.agentID != "" && h.agentID != a.id && !(on["hook-other-agent-failed"] && typ == "agent.failed") {
		return false
	}
	for _, e := range h.events {
		if e == typ || e == "*" || strings.HasSuffix(e, ".*") && strings.HasPrefix(typ, e[:len(e)-1]) {
			return true
		}
		if on["hook-wildcard-health-changed"] && e == "agent.*" && typ == "deployment.health_changed" {
			return true
		}
	}
	return false
}
func emit(typ string, a *agent, data M, _ string) {
	mu.Lock()
	defer mu.Unlock()
	var body []byte
	var id string
	for _, h := range hookList {
		if !h.wants(typ, a) {
			continue
		}
		if body == nil {
			id = newID("evt_")
			e := M{"id": id, "type": typ, "created": iso(now()), "data": data, "agent_id": a.id, "deployment_id": a.dep}
			if on["null-optionals"] {
				e["deployment_id"] = nil
			}
			body = marshal(dress(e))
		}
		enqueue(h, id, typ, body)
	}
}

func goodURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}
func createHook(c *ctx) {
	m, ok := c.body()
	if !ok {
		return
	}
	for _, f := range []string{"url", "events"} {
		if m[f] == nil {
			c.missing(f)
			return
		}
	}
	h := &hook{status: "active"}
	if h.url, ok = m["url"].(string); !ok || !goodURL(h.url) {
		c.invalid("url", "not a URL")
		return
	}
	ev, ok := m["events"].([]any)
	if !ok || len(ev) == 0 {
		c.invalid("events", "not an array of event types")
		return
	}
	for _, e := range ev {
		s, _ := e.(string)
		known := s == "agent.*" || s == "deployment.*" || s == "*"
		for _, t := range eventTypes {
			known = known || t == s
		}
		if !known {
			c.invalid("events", "unknown event type")
			return
		}
		h.events = append(h.events, s)
	}
	if v := m["agent_id"]; v != nil {
		if h.agentID, ok = v.(string); !ok {
			c.invalid("agent_id", "not a string")
			return
		}
		if byAgent[h.agentID] == nil {
			c.noAgent(h.agentID)
			return
		}
	}
	if v := m["secret"]; v != nil {
		if h.secret, ok = v.(string); !ok {
			c.invalid("secret", "not a string")
			return
		}
	}
	if c.key.agentID != "" {
		if h.agentID == "" {
			h.agentID = c.key.agentID
		}
		if h.agentID != c.key.agentID {
			mu.Lock()
			c.uncount()
			mu.Unlock()
			c.forbidden("This key is for another agent.")
			return
		}
	}
	mu.Lock()
	h.id, h.created = newID("wh_"), now()
	hooks[h.id] = h
	hookList = append(hookList, h)
	b := h.record()
	mu.Unlock()
	c.send(201, b)
}
func hookEndpoint(c *ctx, id string) {
	mu.Lock()
	h := hooks[id]
	if h == nil || h.gone || !c.sees(h.agentID) {
		mu.Unlock()
		c.fail(404, "WEBHOOK_NOT_FOUND", "There is no such webhook.", M{"webhook_id": id})
		return
	}
	var b M
	all := []M{}
	switch c.route {
	case "hookGET":
		b = h.record()
	case "hookDELETE":
		h.gone = true
		l := hookList[:0]
		for _, x := range hookList {
			if x != h {
				l = append(l, x)
			}
		}
		hookList = l
		b = M{"webhook_id": h.id, "deleted": true}
	case "deliveries":
		for i := len(h.deliveries) - 1; i >= 0; i-- {
			d := h.deliveries[i]
			at := []M{}
			for _, a := range d.attempts {
				x := M{"at": iso(a.at), "response_time_ms": a.ms}
				if a.err != "" {
					x["error"] = a.err
				} else {
					x["status_code"] = a.status
				}
				at = append(at, x)
			}
			x := M{"delivery_id": d.id, "event_id": d.event, "event_type": d.typ, "status": d.status, "attempts": at, "attempt_count": len(at), "created_at": iso(d.created)}
			if d.status == "pending" {
				x["next_attempt_at"] = iso(d.due)
			}
			all = append(all, x)
		}
	case "metrics":
		ok, bad, sum, n := 0, 0, 0.0, 0
		var last time.Time
		for _, d := range h.deliveries {
			switch d.status {
			case "delivered":
				ok++
			case "failed":
				bad++
			}
			for _, a := range d.attempts {
				sum, n = sum+a.ms, n+1
				if a.at.After(last) {
					last = a.at
				}
			}
		}
		b = M{"webhook_id": h.id, "total_deliveries": len(h.deliveries), "successful": ok, "failed": bad, "average_response_time": 0.0}
		if n > 0 {
			b["average_response_time"], b["last_delivery"] = math.Round(sum/float64(n)*10)/10, iso(last)
		}
	}
	mu.Unlock()
	if c.route == "deliveries" {
		page, limit, ok := c.page()
		if !ok {
			return
		}
		d, p := paged(all, page, limit, 0)
		b = M{"webhook_id": h.id, "data": d, "pagination": p}
	}
	c.send(200, b)
}
