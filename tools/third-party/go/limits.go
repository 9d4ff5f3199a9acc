package main

import (
	"math"
	"sort"
	"time"
)

type tier struct {
	name               string
	hour, minute, conc int
	tokens             int
}

var tiers = map[string]tier{
	"free": {"free", 100, 10, 2, 100000},
	"pro":  {"pro", 1000, 100, 10, 2000000},
	"team": {"team", 5000, 500, 25, 10000000},
}

type window struct { // the times of admitted requests
	dur time.Duration
	at  []time.Time
}

func (w *window) begin(t time.Time) time.Time {
	if on["fixed-windows"] {
		return t.Truncate(w.dur)
	}
	return t.Add(-w.dur).Add(1)
}
func (w *window) used(t time.Time) int {
	b := w.begin(t)
	i := sort.Search(len(w.at), func(i int) bool { return !w.at[i].Before(b) })
	if i > 0 {
		w.at = append([]time.Time{}, w.at[i:]...)
	}
	return len(w.at)
}

// the moment from which less than max requests are in the window
func (w *window) free(t time.Time, max int) time.Time {
	if on["fixed-windows"] {
		return t.Truncate(w.dur).Add(w.dur)
	}
	n := w.used(t)
	if n == 0 {
		return t.Add(w.dur)
	}
	i := n - max
	if i < 0 {
		i = 0
	}
	return w.at[i].Add(w.dur)
}
func (w *window) drop(t time.Time) {
	for i := len(w.at) - 1; i >= 0; i-- {
		if w.at[i].Equal(t) {
			w.at = append(w.at[:i], w.at[i+1:]...)
			return
		}
	}
}

type apiKey struct {
	id, name, typ, key, restriction string
	tier                            tier
	expires                         time.Time
	agentID                         string
	allowed                         []string
	minute, hour                    *window
	active                          int
	leaks                           []time.Time // slots kept until then
	month                           string
	tokens                          int
	first                           time.Time
	answers                         int
	total                           int
	lastUsed                        time.Time
}

func (k *apiKey) conc() int {
	if on["lim-slots-team-20"] && k.tier.name == "team" {
		return 20
	}
	return k.tier.conc
}
func (k *apiKey) slots(t time.Time) int {
	l := k.leaks[:0]
	for _, x := range k.leaks {
		if x.After(t) {
			l = append(l, x)
		}
	}
	k.leaks = l
	return k.active + len(l)
}
func (k *apiKey) tokensUsed(t time.Time) int {
	if m := t.Format("2006-01"); m != k.month {
		k.month, k.tokens = m, 0
	}
	return k.tokens
}
func (k *apiKey) hourMax(t time.Time) int {
	if on["lim-second-hour-half"] && !k.first.IsZero() && t.Sub(k.first) >= time.Hour {
		return k.tier.hour / 2
	}
	return k.tier.hour
}

type state struct {
	limit, remaining int
	reset            time.Time
	hour             bool
}

func (k *apiKey) window(t time.Time) state {
	m := state{k.tier.minute, max(0, k.tier.minute-k.minute.used(t)), k.minute.free(t, k.tier.minute), false}
	h := state{k.tier.hour, max(0, k.tier.hour-k.hour.used(t)), k.hour.free(t, k.tier.hour), true}
	if on["headers-minute"] {
		return m
	}
	if on["headers-alternate"] {
		if k.answers%2 == 0 {
			return h
		}
		return m
	}
	if h.remaining < m.remaining || h.remaining == m.remaining && h.reset.After(m.reset) {
		return h
	}
	return m
}

func secs(d time.Duration) int { return int(math.Ceil(math.Max(0, d.Seconds()))) }
