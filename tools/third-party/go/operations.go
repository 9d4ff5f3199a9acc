package main

import (
	"context"
	"fmt"
	"time"
)

type operation struct {
	id, agentID, status string
	total               int
	results             []M
	created, ended      time.Time
}

func batch(c *ctx) {
	m, ok := c.body()
	if !ok {
		return
	}
	v, has := m["batch"]
	if !has || v == nil {
		c.missing("batch")
		return
	}
	items, ok := v.([]any)
	if !ok || len(items) == 0 || len(items) > 100 {
		c.invalid("batch", "not an array of 1 to 100 objects")
		return
	}
	ins := []*input{}
	for i, it := range items {
		n := fmt.Sprintf("batch[%d]", i)
		im, ok := it.(M)
		if !ok {
			c.invalid(n, "not an object")
			return
		}
		in, f, why, absent := readInput(im, false)
		if absent {
			c.missing(n + "." + f)
			return
		}
		if f != "" {
			c.invalid(n+"."+f, why)
			return
		}
		ins = append(ins, &in)
	}
	if !c.tokensLeft() {
		return
	}
	mu.Lock()
	op := &operation{id: newID("op_"), agentID: c.agent.id, status: "pending", total: len(ins), created: now()}
	ops[op.id] = op
	mu.Unlock()
	go func(k *apiKey, a *agent) {
		time.Sleep(300 * time.Millisecond)
		mu.Lock()
		op.status = "running"
		mu.Unlock()
		for i, in := range ins {
			o, _ := run(context.Background(), k, a, in)
			r := M{"index": i, "status": "success"}
			if o.err != nil {
				r["status"], r["error"] = "error", M{"code": o.err.code, "message": o.err.msg, "details": M{"reason": o.err.details}}
			} else {
				for n, v := range invokeBody(a, o, in) {
					r[n] = v
				}
			}
			mu.Lock()
			op.results = append(op.results, r)
			mu.Unlock()
		}
		mu.Lock()
		op.status, op.ended = "completed", now()
		mu.Unlock()
	}(c.key, c.agent)
	c.send(200, M{"operation_id": op.id, "status": "pending", "check_url": "/v1/operations/" + op.id})
}
func operationEndpoint(c *ctx, id string) {
	mu.Lock()
	op := ops[id]
	if op == nil || !c.sees(op.agentID) {
		mu.Unlock()
		c.fail(404, "OPERATION_NOT_FOUND", "There is no such operation.", M{"operation_id": id})
		return
	}
	b := M{"operation_id": op.id, "status": op.status, "check_url": "/v1/operations/" + op.id, "agent_id": op.agentID, "created_at": iso(op.created),
		"total": op.total, "completed": len(op.results), "results": append([]M{}, op.results...)}
	if !op.ended.IsZero() {
		b["completed_at"] = iso(op.ended)
	}
	mu.Unlock()
	c.send(200, b)
}
