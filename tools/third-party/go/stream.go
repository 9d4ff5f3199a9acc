package main

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

func stream(c *ctx) {
	in, ok := c.input(true)
	if !ok || !c.tokensLeft() {
		return
	}
	x, a := c.r.Context(), c.agent
	o := &outcome{request: newIDL("req_"), began: time.Now()}
	emit("agent.invoked", a, M{"request_id": o.request, "input": in.object()}, "")
	c.set("Content-Type", "text/event-stream")
	c.set("Cache-Control", "no-cache")
	c.headers(200)
	c.w.WriteHeader(200)
	fl := c.w.(http.Flusher)
	eol := "\n"
	if on["sse-cr"] {
		eol = "\r"
	}
	event := func(name string, data M) {
		pre := ""
		if on["sse-cr"] {
			pre = ": keep-alive" + eol + eol
		}
		fmt.Fprint(c.w, pre+"event: "+name+eol+"data: "+string(marshal(dress(data)))+eol+eol)
		fl.Flush()
	}
	s := M{"message": "The stream begins."}
	if in.session != "" {
		s["session_id"] = in.session
	} else if on["null-optionals"] {
		s["session_id"] = nil
	}
	event("start", s)
	if !think(x, c.key, a, in, o, true) {
		c.aborted = true
		return
	}
	delay := 5 * time.Millisecond
	if a.role == "slow-streaming" {
		delay = time.Duration(*delayMs) * time.Millisecond
	}
	if in.delay >= 0 {
		delay = time.Duration(in.delay) * time.Millisecond
	}
	stopAt := -1
	var bad M
	switch a.role {
	case "failing", "stream-failing":
		stopAt = 3
		if a.role == "failing" {
			stopAt = 1
		}
		o.err = &runErr{"STREAM_ERROR", "The agent broke off.", "broken while streaming"}
	case "overloaded":
		stopAt = 0
		o.err = &runErr{"CAPACITY_ERROR", "The model is overloaded.", "no capacity left"}
	case "timing-out":
		if !wait(x, time.Second) {
			c.aborted = true
			return
		}
		stopAt, o.timeout = 0, true
		o.err = &runErr{"STREAM_ERROR", "The agent took too long.", "stopped after its timeout"}
	}
	if o.err != nil {
		bad = M{"error": o.err.msg, "code": o.err.code}
		if a.role == "overloaded" {
			bad["retry_after"] = 5
		}
	}
	sent := 0
	done := func() {
		o.stop()
		if !on["usage-tokens-stream-uncounted"] {
			spend(c.key, o.prompt+words(o.output[:sent]))
		}
	}
	for i, p := range pieces(o.output, in.chunk) {
		if stopAt >= 0 && i >= stopAt {
			break
		}
		sent += len(p)
		if i < in.resume {
			continue
		}
		if !wait(x, delay) {
			sent -= len(p)
			c.aborted = true
			done()
			return
		}
		d := M{"content": p, "index": i}
		if on["null-optionals"] {
			d["index"] = nil
		}
		if on["index-drop-zero"] && i == 0 {
			delete(d, "index")
		}
		event("chunk", d)
	}
	done()
	report(a, in, o, true)
	c.release()
	if bad != nil {
		event("error", bad)
	} else {
		d := M{"message": "The stream is complete.", "usage": o.usage(), "execution_time": o.seconds}
		if on["sse-done-no-usage-session"] && in.session != "" {
			delete(d, "usage")
		}
		event("done", d)
		if on["sse-chunk-after-done"] && in.chunk > 0 {
			event("chunk", M{"content": ""})
		}
	}
	if on["stream-lingers"] {
		wait(x, 2*time.Second)
	}
}

func pieces(s string, n int) []string {
	var out []string
	if n > 0 {
		r := []rune(s)
		for len(r) > 0 {
			m := min(n, len(r))
			out = append(out, string(r[:m]))
			r = r[m:]
		}
		return out
	}
	for s != "" {
		i := strings.IndexByte(s, ' ') + 1
		if i == 0 {
			i = len(s)
		}
		out = append(out, s[:i])
		s = s[i:]
	}
	return out
}
