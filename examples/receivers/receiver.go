// Receives webhook deliveries. Start it with WEBHOOK_SECRET and PORT in the environment.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"log"
	"net/http"
	"os"
)

func main() {
	key := []byte(os.Getenv("WEBHOOK_SECRET"))
	http.HandleFunc("POST /", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 4<<20))
		mac := hmac.New(sha256.New, key)
		mac.Write(body)
		expected := hex.EncodeToString(mac.Sum(nil))
		if err != nil || !hmac.Equal([]byte(expected), []byte(r.Header.Get("X-Service-Signature"))) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.WriteHeader(http.StatusNoContent) // Put the event into a queue here, and handle it later.
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
