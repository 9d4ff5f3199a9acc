package main

import ()

func invoke(c *ctx) {
	in, ok := c.input(false)
	if !ok || !c.tokensLeft() {
		return
	}
	o, ok := run(c.r.Context(), c.key, c.agent, in)
	if !ok {
		c.aborted = true
		return
	}
	if o.err != nil {
		status := 500
		if on["crash-502"] {
			status = 502
		}
		c.skip["timeout"] = o.timeout
		c.fail(status, o.err.code, o.err.msg, M{"reason": o.err.details, "request_id": o.request})
		return
	}
	c.send(200, invokeBody(c.agent, o, in))
}
