package main

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"sort"
	"strings"
)

const maxBody = 1 << 20

func (c *ctx) body() (M, bool) {
	ct := strings.ToLower(strings.TrimSpace(strings.Split(c.r.Header.Get("Content-Type"), ";")[0]))
	if ct != "application/json" {
		c.invalid("Content-Type", "not application/json")
		return nil, false
	}
	b, err := io.ReadAll(io.LimitReader(c.r.Body, maxBody+1))
	if err != nil || len(b) > maxBody {
		c.invalid("body", "too long")
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var m M
	if err := d.Decode(&m); err != nil || m == nil {
		c.invalid("body", "not a JSON object")
		return nil, false
	}
	if _, err := d.Token(); err != io.EOF {
		c.invalid("body", "not a JSON object")
		return nil, false
	}
	return m, true
}

type input struct {
	query, session string
	params         M
	raw            M
	maxTokens      int // -1: none
	resume         int
	delay          int // -1: none
	chunk          int
}

func number(v any) (float64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}

// field and reason of what is wrong, or ""
func readInput(m M, streaming bool) (in input, field, reason string, absent bool) {
	in = input{maxTokens: -1, delay: -1, raw: m, params: M{}}
	q, has := m["query"]
	if !has || q == nil {
		return in, "query", "missing", true
	}
	var ok bool
	if in.query, ok = q.(string); !ok {
		return in, "query", "not a string", false
	}
	if s, has := m["session_id"]; has && s != nil {
		if in.session, ok = s.(string); !ok {
			return in, "session_id", "not a string", false
		}
	}
	if p, has := m["parameters"]; has && p != nil {
		if in.params, ok = p.(M); !ok {
			return in, "parameters", "not an object", false
		}
	}
	names := []string{}
	for n := range in.params {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		v := in.params[n]
		if v == nil {
			continue
		}
		f, num := number(v)
		whole := num && f == math.Trunc(f)
		switch n {
		case "temperature":
			if !num {
				return in, "parameters.temperature", "not a number", false
			}
			if f < 0 || f > 2 {
				return in, "parameters.temperature", "out of range", false
			}
		case "max_tokens":
			if !whole {
				return in, "parameters.max_tokens", "not an integer", false
			}
			if f < 1 {
				return in, "parameters.max_tokens", "out of range", false
			}
			in.maxTokens = int(math.Min(f, 1e9))
		case "context":
			if _, ok := v.(M); !ok {
				return in, "parameters.context", "not an object", false
			}
		case "resume_from_index", "stream_delay_ms", "chunk_size":
			if !streaming {
				break
			}
			if !whole || f < 0 || f > 1e6 {
				return in, "parameters." + n, "not a natural number", false
			}
			switch n {
			case "resume_from_index":
				in.resume = int(f)
			case "stream_delay_ms":
				in.delay = min(int(f), 10000)
			default:
				in.chunk = int(f)
			}
		default:
			if streaming && on["sse-unknown-parameter-400"] {
				return in, "parameters." + n, "unknown", false
			}
		}
	}
	return in, "", "", false
}
