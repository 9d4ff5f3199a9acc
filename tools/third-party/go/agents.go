package main

import (
	"flag"
	"fmt"
	"time"
)

type agent struct {
	id, dep, role, name, desc, version string
	up                                 time.Time
	last                               time.Time
	lastStream                         bool
}

var (
	keys     []*apiKey
	agents   []*agent
	byRole   = map[string]*agent{}
	byAgent  = map[string]*agent{}
	sessions = map[string][]string{}
	hooks    = map[string]*hook{}
	hookList []*hook
	ops      = map[string]*operation{}
	alerts   []*alert
)

var (
	tempSeconds = flag.Float64("temporary-seconds", 60, "life of the temporary key")
	slowSeconds = flag.Float64("slow-seconds", 2, "time of the slow agent")
	delayMs     = flag.Int("stream-delay-ms", 300, "time of a chunk of slow-streaming")
	testClock   = flag.Bool("test-clock", false, "allow POST /__clock")
	admin       = flag.Bool("admin", false, "allow POST /__deploy without a test clock")
	remote      = flag.Bool("allow-remote", false, "webhooks to other hosts than loopback")
)

func setup() {
	defs := [][3]string{
		{"echo", "Echo", "Says what it was told."}, {"slow", "Slow", "Thinks for a while."}, {"failing", "Failing", "Always fails."},
		{"streaming", "Streaming", "Writes a paragraph."}, {"slow-streaming", "Slow streaming", "Writes a paragraph slowly."},
		{"stream-failing", "Stream failing", "Breaks off while it streams."}, {"overloaded", "Overloaded", "Has no capacity."},
		{"memory", "Memory", "Knows what was said in a session."}, {"degraded", "Degraded", "Works, with warnings."},
		{"unhealthy", "Unhealthy", "Its critical checks fail."}, {"timing-out", "Timing out", "Never ends in time."},
		{"token-burner", "Token burner", "30,000 tokens a call."},
	}
	for i, n := range []string{"Invoice reader", "Mail sorter", "Summariser", "Translator", "Contract checker", "Support desk", "Code reviewer", "Planner", "Recipe writer", "Travel guide", "Meeting notes", "Price watcher", "Data cleaner", "Poet"} {
		defs = append(defs, [3]string{fmt.Sprintf("filler%d", i), n, n + " of the demonstration account."})
	}
	for i, d := range defs {
		a := &agent{id: uuid(), dep: uuid(), role: d[0], name: d[1], desc: d[2], version: fmt.Sprintf("%d.%d.%d", 1+i%3, i%5, i%7), up: start.Add(-time.Duration(1+i) * 7 * time.Minute)}
		agents = append(agents, a)
		byRole[a.role], byAgent[a.id] = a, a
	}
	add := func(name, t, typ, restriction string) *apiKey {
		k := &apiKey{id: newID("key_"), name: name, typ: typ, restriction: restriction, tier: tiers[t], key: "ah_" + letters(36, alnum),
			minute: &window{dur: time.Minute}, hour: &window{dur: time.Hour}}
		keys = append(keys, k)
		return k
	}
	f1 := add("free1", "free", "personal", "")
	f2 := add("free2", "free", "personal", "")
	if on["lim-minute-shared-free"] {
		f2.minute = f1.minute
	}
	add("pro", "pro", "service", "")
	add("team", "team", "service", "")
	add("expired", "pro", "temporary", "expired").expires = start.Add(-24 * time.Hour)
	add("temporary", "pro", "temporary", "temporary").expires = start.Add(time.Duration(*tempSeconds * 1e9))
	add("read-only", "pro", "service", "read-only")
	add("one-agent", "pro", "service", "one-agent").agentID = byRole["echo"].id
	add("ip-restricted", "pro", "service", "ip-restricted").allowed = []string{"127.0.0.2/32", "203.0.113.0/24"}
}
