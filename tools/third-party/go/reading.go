package main

import (
	"math"
	"strconv"
	"time"
)

func health(c *ctx, id string) {
	a := c.agent
	if a == nil {
		c.noAgent(id)
		return
	}
	mu.Lock()
	t := now()
	j := rng.Float64()
	last, lastStream := a.last, a.lastStream
	mu.Unlock()
	r1 := func(f float64) float64 { return math.Round(f*10) / 10 }
	ag := M{"status": "healthy", "response_time_ms": r1(20 + 30*j)}
	deps := M{"database": "healthy", "model": "healthy"}
	b := M{"status": "healthy", "version": a.version, "uptime": math.Round(t.Sub(a.up).Seconds()*1000) / 1000,
		"checks": M{"agent": ag, "dependencies": deps, "resources": M{"memory_usage_percent": r1(30 + 10*j), "cpu_usage_percent": r1(5 + 20*j)}}}
	switch a.role {
	case "degraded":
		b["status"], deps["model"], ag["response_time_ms"] = "degraded", "slow", r1(900+300*j)
		b["warnings"] = []string{"The model answers slowly."}
	case "unhealthy":
		b["status"], ag["status"], deps["database"] = "unhealthy", "unhealthy", "unhealthy"
	}
	if !last.IsZero() {
		b["last_request"] = iso(last)
		if on["health-last-request-unix-stream"] && lastStream {
			b["last_request"] = last.Unix()
		}
	}
	if on["null-optionals"] {
		b["version"], b["last_request"] = nil, nil
	}
	c.send(200, b)
}

func agentItem(a *agent) M {
	return M{"agent_id": a.id, "name": a.name, "description": a.desc, "version": a.version, "status": "ready", "deployment_id": a.dep, "created_at": iso(a.up)}
}

func (c *ctx) page() (page, limit int, ok bool) {
	page, limit = 1, 20
	q := c.r.URL.Query()
	for n, v := range map[string]*int{"page": &page, "limit": &limit} {
		if q.Has(n) {
			i, err := strconv.Atoi(q.Get(n))
			if err != nil || i < 1 || i > 1000000 {
				c.invalid(n, "not a positive integer")
				return 0, 0, false
			}
			*v = i
		}
	}
	return page, min(limit, 100), true
}
func paged(all []M, page, limit, more int) ([]M, M) {
	from := min(len(all), (page-1)*limit)
	to := min(len(all), from+limit+more)
	return append([]M{}, all[from:to]...), M{"page": page, "limit": limit, "total": len(all), "pages": (len(all) + limit - 1) / limit}
}
func list(c *ctx) {
	page, limit, ok := c.page()
	if !ok {
		return
	}
	all := []M{}
	for _, a := range agents {
		if c.sees(a.id) {
			all = append(all, agentItem(a))
		}
	}
	more := 0
	if on["list-page2-more"] && page > 1 {
		more = 1
	}
	c.skip["page2"] = page > 1
	d, p := paged(all, page, limit, more)
	c.send(200, M{"data": d, "pagination": p})
}

func monthStart(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
}
func three(used, limit int) M {
	return M{"used": used, "limit": limit, "remaining": max(0, limit-used)}
}
func usage(c *ctx) {
	mu.Lock()
	t, k := now(), c.key
	b := M{"period": iso(monthStart(t)), "requests": three(k.hour.used(t), k.tier.hour), "tokens": three(k.tokensUsed(t), k.tier.tokens)}
	if on["usage-period-epoch-team"] && k.tier.name == "team" {
		b["period"] = monthStart(t).Unix()
	}
	mu.Unlock()
	c.send(200, b)
}
func keyUsage(c *ctx) {
	mu.Lock()
	t, k := now(), c.key
	b := M{"key_id": k.id, "name": k.name, "type": k.typ, "tier": k.tier.name, "total_requests": k.total, "last_used": iso(k.lastUsed),
		"requests": M{"minute": three(k.minute.used(t), k.tier.minute), "hour": three(k.hour.used(t), k.tier.hour)},
		"tokens":   three(k.tokensUsed(t), k.tier.tokens), "concurrent": three(k.slots(t), k.tier.conc)}
	if !k.expires.IsZero() {
		b["expires_at"] = iso(k.expires)
	}
	if k.agentID != "" {
		b["agent_id"] = k.agentID
	}
	mu.Unlock()
	c.send(200, b)
}
