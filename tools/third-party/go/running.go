package main

import (
	"context"
	"math"
	"strings"
	"time"
)

type runErr struct{ code, msg, details string }
type outcome struct {
	request      string
	output       string
	result       M
	prompt, comp int
	seconds      float64
	err          *runErr
	timeout      bool
	began        time.Time
}

func (o *outcome) usage() M {
	return M{"prompt_tokens": o.prompt, "completion_tokens": o.comp, "total_tokens": o.prompt + o.comp}
}
func (o *outcome) stop() { o.seconds = math.Round(time.Since(o.began).Seconds()*1e6) / 1e6 }
func words(s string) int { return len(strings.Fields(s)) }
func cut(s string, n int) string {
	if n < 0 {
		return s
	}
	count, inWord := 0, false
	for i, r := range s {
		sp := r == ' ' || r == '\n' || r == '\t' || r == '\r'
		if !sp && !inWord {
			count++
			if count > n {
				return strings.TrimRight(s[:i], " \n\t\r")
			}
		}
		inWord = !sp
	}
	return s
}

const paragraph = "A stream begins with a start event, and then come the pieces, one by one: naïve words, 東京, a line of Ελληνικά, and — so that every reader of bytes has something to chew on — a small 🎈, until all is said and done."

func wait(x context.Context, d time.Duration) bool {
	if d <= 0 {
		return x.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-x.Done():
		return false
	}
}

// what the agent says; false: the client has gone
func think(x context.Context, k *apiKey, a *agent, in *input, o *outcome, streaming bool) bool {
	o.prompt = words(in.query)
	var history []string
	mu.Lock()
	a.last, a.lastStream = now(), streaming
	if in.session != "" {
		id := k.id + "\n" + a.id + "\n" + in.session
		sessions[id] = append(sessions[id], in.query)
		history = append(history, sessions[id]...)
	} else {
		history = []string{in.query}
	}
	mu.Unlock()
	text := "You said: " + in.query
	switch a.role {
	case "slow":
		if !wait(x, time.Duration(*slowSeconds*1e9)) {
			return false
		}
	case "streaming", "slow-streaming", "stream-failing":
		text = paragraph
	case "memory":
		text = "So far you said: " + strings.Join(history, " | ")
	case "failing":
		if !streaming {
			o.err = &runErr{"EXECUTION_ERROR", "The agent failed.", "ValueError: this agent always fails"}
		}
	case "overloaded":
		if !streaming {
			o.err = &runErr{"EXECUTION_ERROR", "The model is overloaded.", "no capacity left"}
		}
	case "timing-out":
		if !streaming {
			if !wait(x, time.Second) {
				return false
			}
			o.timeout = true
			o.err = &runErr{"EXECUTION_TIMEOUT", "The agent took too long.", "stopped after its timeout"}
		}
	case "token-burner":
		text = strings.TrimSpace(strings.Repeat("burn ", 30000))
	}
	o.output = cut(text, in.maxTokens)
	o.comp = words(o.output)
	o.result = M{"output": o.output}
	if a.role == "memory" {
		o.result["history"] = history
		o.result["turns"] = len(history)
	}
	return true
}

func (in *input) object() M {
	m := M{"query": in.query}
	for _, n := range []string{"parameters", "session_id"} {
		if v, ok := in.raw[n]; ok {
			m[n] = v
		}
	}
	return m
}
func spend(k *apiKey, n int) {
	mu.Lock()
	k.tokensUsed(now())
	k.tokens += n
	mu.Unlock()
}
func report(a *agent, in *input, o *outcome, streaming bool) {
	switch {
	case o.timeout:
		emit("agent.timeout", a, M{"request_id": o.request, "input": in.object(), "execution_time": o.seconds, "timeout": 30}, "")
	case o.err != nil:
		var e any = M{"code": "EXECUTION_ERROR", "message": o.err.msg, "details": o.err.details}
		if streaming && on["hook-failed-error-string-stream"] {
			e = "EXECUTION_ERROR: " + o.err.msg
		}
		emit("agent.failed", a, M{"request_id": o.request, "error": e, "input": in.object()}, "")
	default:
		emit("agent.completed", a, M{"request_id": o.request, "input": in.object(), "result": o.result, "execution_time": o.seconds, "tokens_used": o.prompt + o.comp}, "")
	}
}
func run(x context.Context, k *apiKey, a *agent, in *input) (*outcome, bool) {
	o := &outcome{request: newIDL("req_"), began: time.Now()}
	emit("agent.invoked", a, M{"request_id": o.request, "input": in.object()}, "")
	if !think(x, k, a, in, o, false) {
		return o, false
	}
	o.stop()
	if o.err == nil {
		spend(k, o.prompt+o.comp)
	}
	report(a, in, o, false)
	return o, true
}
func invokeBody(a *agent, o *outcome, in *input) M {
	b := M{"result": o.result, "usage": o.usage(), "metadata": M{"execution_time": o.seconds, "agent_version": a.version, "request_id": o.request}}
	if on["null-optionals"] {
		b["usage"], b["metadata"] = nil, nil
	}
	if on["inv-result-string-max-tokens"] && in.maxTokens >= 0 {
		b["result"] = o.output
	}
	return b
}

func (c *ctx) input(streaming bool) (*input, bool) {
	m, ok := c.body()
	if !ok {
		return nil, false
	}
	in, f, why, absent := readInput(m, streaming)
	if absent {
		c.missing(f)
		return nil, false
	}
	if f != "" {
		c.invalid(f, why)
		return nil, false
	}
	return &in, true
}
