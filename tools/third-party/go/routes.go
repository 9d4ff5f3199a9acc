package main

import (
	"crypto/hmac"
	"log"
	"net"
	"net/http"
	"strings"
	"time"
)

func serve(w http.ResponseWriter, r *http.Request) {
	c := &ctx{w: w, r: r, skip: map[string]bool{}}
	defer func() {
		c.release()
		if e := recover(); e != nil && e != http.ErrAbortHandler {
			log.Println("panic:", e)
			c.fail(500, "INTERNAL_ERROR", "Something went wrong.", nil)
		}
	}()
	p := strings.Split(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if r.URL.Path == "/__clock" && (*testClock || r.Method == "GET") {
		clockEndpoint(c)
		return
	}
	if r.URL.Path == "/__deploy" && (*testClock || *admin) && r.Method == "POST" {
		deployEndpoint(c)
		return
	}
	// which endpoint is it
	local, id := false, ""
	if len(p) == 6 && p[0] == "api" && p[1] == "v1" && p[2] == "agents" && p[4] == "execute" && r.Method == "POST" {
		local, id, c.route = true, p[3], "invoke"
		if strings.HasSuffix(p[5], "_stream") {
			c.route = "stream"
		}
	} else if p[0] == "v1" {
		switch m := r.Method + " " + strings.Join(p[1:], "/"); {
		case m == "GET agents":
			c.route = "list"
		case m == "GET usage":
			c.route = "usage"
		case m == "GET keys/usage":
			c.route = "keys"
		case m == "POST webhooks":
			c.route = "webhooks"
		case m == "GET webhooks":
			c.route = "hooklist"
		case m == "POST alerts":
			c.route = "alerts"
		case m == "GET alerts":
			c.route = "alertlist"
		case len(p) == 3 && p[1] == "agents" && r.Method == "GET":
			c.route, id = "agent", p[2]
		case len(p) == 4 && p[1] == "agents":
			id = p[2]
			for _, x := range []string{"POST invoke", "POST stream", "POST batch", "GET health"} {
				if r.Method+" "+p[3] == x {
					c.route = p[3]
				}
			}
		case len(p) == 3 && p[1] == "webhooks" && (r.Method == "GET" || r.Method == "DELETE"):
			c.route, id = "hook"+r.Method, p[2]
		case len(p) == 4 && p[1] == "webhooks" && r.Method == "GET" && (p[3] == "deliveries" || p[3] == "metrics"):
			c.route, id = p[3], p[2]
		case len(p) == 3 && p[1] == "operations" && r.Method == "GET":
			c.route, id = "operation", p[2]
		}
	}
	_ = local
	// the key
	auth := r.Header.Get("Authorization")
	var key *apiKey
	if s, ok := strings.CutPrefix(auth, "Bearer "); ok {
		for _, k := range keys {
			if hmac.Equal([]byte(k.key), []byte(strings.TrimSpace(s))) {
				key = k
			}
		}
	}
	if key == nil {
		if auth == "" && c.route == "operation" && on["key-missing-operations"] {
			operationEndpoint(c, id)
			return
		}
		msg := "The API key is not valid."
		if auth == "" {
			msg = "An API key is required."
		}
		c.fail(401, "INVALID_API_KEY", msg, nil)
		return
	}
	t := clock()
	if !key.expires.IsZero() && !t.Before(key.expires) {
		c.plainRL = on["hdr-none-401-expired"]
		code := "EXPIRED_API_KEY"
		if on["key-expired-code-stream"] && c.route == "stream" {
			code = "INVALID_API_KEY"
		}
		c.fail(401, code, "The API key has expired.", nil)
		return
	}
	c.key = key
	if on["key-temporary-sliding"] && key.name == "temporary" {
		mu.Lock()
		key.expires = t.Add(time.Duration(*tempSeconds * 1e9))
		mu.Unlock()
	}
	ip, _, _ := net.SplitHostPort(r.RemoteAddr)
	if key.allowed != nil && !inList(ip, key.allowed) && !(on["key-ip-deliveries"] && c.route == "deliveries") {
		c.forbidden("This key cannot be used from this address.")
		return
	}
	if key.restriction == "read-only" && r.Method != "GET" && !(on["key-readonly-batch"] && c.route == "batch") {
		c.forbidden("This key can only read.")
		return
	}
	c.agent = byAgent[id]
	if key.agentID != "" && c.agent != nil && c.agent.id != key.agentID && !(on["key-oneagent-stream-other"] && c.route == "stream") {
		c.forbidden("This key is for another agent.")
		return
	}
	if c.route == "health" {
		if on["lim-health-429-slots"] {
			mu.Lock()
			full := key.slots(now()) >= key.conc()
			mu.Unlock()
			if full {
				c.limited("RATE_LIMIT_EXCEEDED", "concurrency", key.tier.conc, 0, t.Add(time.Second), t, false)
				return
			}
		}
		health(c, id)
		return
	}
	if !c.admit() {
		return
	}
	switch c.route {
	case "invoke", "stream", "batch", "agent":
		if c.agent == nil {
			c.noAgent(id)
			return
		}
	}
	switch c.route {
	case "invoke":
		invoke(c)
	case "stream":
		stream(c)
	case "batch":
		batch(c)
	case "agent":
		c.send(200, agentItem(c.agent))
	case "list":
		list(c)
	case "usage":
		usage(c)
	case "keys":
		keyUsage(c)
	case "webhooks":
		createHook(c)
	case "hooklist":
		mu.Lock()
		d := []M{}
		for _, h := range hookList {
			if c.sees(h.agentID) {
				d = append(d, h.record())
			}
		}
		mu.Unlock()
		c.send(200, M{"data": d})
	case "hookGET", "hookDELETE", "deliveries", "metrics":
		hookEndpoint(c, id)
	case "alerts":
		createAlert(c)
	case "alertlist":
		d := []M{}
		mu.Lock()
		for _, a := range alerts {
			if a.key == c.key {
				d = append(d, a.record())
			}
		}
		mu.Unlock()
		c.send(200, M{"data": d})
	case "operation":
		operationEndpoint(c, id)
	default:
		c.notFound()
	}
}

func (c *ctx) sees(agentID string) bool {
	return c.key == nil || c.key.agentID == "" || c.key.agentID == agentID
}
