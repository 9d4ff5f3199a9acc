package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math/rand"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

type multi []string

func (m *multi) String() string     { return strings.Join(*m, ",") }
func (m *multi) Set(s string) error { *m = append(*m, s); return nil }

func plain(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(marshal(v))
}
func clockEndpoint(c *ctx) {
	if c.r.Method == "POST" {
		var b struct{ Seconds, AdvanceMs float64 }
		if json.NewDecoder(c.r.Body).Decode(&b) != nil || b.Seconds < 0 || b.AdvanceMs < 0 {
			plain(c.w, 400, M{"error": "seconds"})
			return
		}
		mu.Lock()
		offset += time.Duration(b.Seconds*1e9) + time.Duration(b.AdvanceMs*1e6)
		mu.Unlock()
		nudge()
	}
	t := clock()
	plain(c.w, 200, M{"now": float64(t.UnixMilli()) / 1000, "iso": iso(t), "offset": offset.Seconds()})
}
func deployEndpoint(c *ctx) {
	var b struct {
		AgentID string `json:"agent_id"`
		Event   string `json:"event"`
	}
	json.NewDecoder(c.r.Body).Decode(&b)
	a, e := byAgent[b.AgentID], strings.TrimPrefix(b.Event, "deployment.")
	known := false
	for _, t := range eventTypes[4:] {
		known = known || t == "deployment."+e
	}
	if a == nil || !known {
		plain(c.w, 400, M{"error": "agent_id, event (created, updated, deleted, health_changed)"})
		return
	}
	d := M{"agent_id": a.id, "deployment_id": a.dep, "version": a.version}
	if e == "health_changed" {
		d["previous_status"], d["status"] = "healthy", "degraded"
	}
	emit("deployment."+e, a, d, "")
	plain(c.w, 200, M{"sent": "deployment." + e})
}

func main() {
	var defects, odds multi
	host := flag.String("host", "127.0.0.1", "")
	port := flag.Int("port", 8910, "0: any free one")
	keysFile := flag.String("keys-file", "", "also write the start line here")
	listThem := flag.Bool("list", false, "the switches, tab-separated")
	seed := flag.Int64("seed", 0, "keys and ids (0: new ones at each start)")
	flag.Var(&defects, "defect", "repeatable")
	flag.Var(&odds, "odd", "repeatable")
	flag.Parse()
	if *listThem {
		for _, s := range switches {
			fmt.Printf("%s\t%s\t%s\t%s\n", s.kind, s.name, s.what, s.why)
		}
		return
	}
	for kind, l := range map[string]multi{"defect": defects, "odd": odds} {
		for _, n := range l {
			found := false
			for _, s := range switches {
				found = found || s.kind == kind && s.name == n
			}
			if !found {
				fmt.Fprintln(os.Stderr, "unknown", kind, n)
				os.Exit(2)
			}
			on[n] = true
		}
	}
	if *seed == 0 {
		*seed = time.Now().UnixNano()
	}
	rng = rand.New(rand.NewSource(*seed))
	start = time.Now().UTC()
	setup()
	makeSender()
	ln, err := net.Listen("tcp", net.JoinHostPort(*host, strconv.Itoa(*port)))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	go deliverLoop()
	base := "http://" + ln.Addr().String()
	ks, roles := []M{}, M{}
	for _, k := range keys {
		m := M{"name": k.name, "tier": k.tier.name, "type": k.typ, "key": k.key}
		if k.restriction != "" {
			m["restriction"] = k.restriction
		}
		if !k.expires.IsZero() {
			m["expires_at"] = k.expires.Format("2006-01-02T15:04:05.000Z")
		}
		if k.agentID != "" {
			m["agent_id"] = k.agentID
		}
		if k.allowed != nil {
			m["allowed_ips"] = k.allowed
		}
		ks = append(ks, m)
	}
	for r, a := range byRole {
		if !strings.HasPrefix(r, "filler") {
			roles[r] = a.id
		}
	}
	line := marshal(M{"base_url": base + "/v1", "keys": ks, "agents": roles, "agents_total": len(agents), "unknown_agent_id": uuid(),
		"clock":  M{"url": base + "/__clock", "test_clock": *testClock, "advance": M{"method": "POST", "body": M{"seconds": "N"}}},
		"deploy": base + "/__deploy", "batch_path": "/v1/agents/{agent_id}/batch", "error_form": "B", "defects": append([]string{}, defects...), "odds": append([]string{}, odds...)})
	if *keysFile != "" {
		os.WriteFile(*keysFile, append(line, '\n'), 0o600)
	}
	fmt.Println(string(line))
	sig := make(chan os.Signal, 1)
	signal.Notify(sig, syscall.SIGTERM, syscall.SIGINT)
	go func() { <-sig; os.Exit(0) }()
	log.Fatal((&http.Server{Handler: http.HandlerFunc(serve)}).Serve(ln))
}
