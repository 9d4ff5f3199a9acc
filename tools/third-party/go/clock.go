package main

import (
	"math/rand"
	"sync"
	"time"
)

type M = map[string]any

var on = map[string]bool{} // switches that are on

var (
	mu     sync.Mutex // guards everything below
	offset time.Duration
	rng    *rand.Rand
	start  time.Time
)

func now() time.Time { return time.Now().UTC().Add(offset) } // with mu held, or by clock()
func clock() time.Time {
	mu.Lock()
	defer mu.Unlock()
	return now()
}
func iso(t time.Time) string {
	if on["time-no-z"] {
		return t.UTC().Format("2006-01-02T15:04:05.000000")
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}
func letters(n int, set string) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = set[rng.Intn(len(set))]
	}
	return string(b)
}

const hexa, alnum = "0123456789abcdef", "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"

func uuid() string {
	h := letters(30, hexa)
	return h[:8] + "-" + h[8:12] + "-4" + h[12:15] + "-" + letters(1, "89ab") + h[15:18] + "-" + h[18:30]
}
func newID(prefix string) string { return prefix + letters(20, hexa) }
func newIDL(prefix string) string {
	mu.Lock()
	defer mu.Unlock()
	return newID(prefix)
}
