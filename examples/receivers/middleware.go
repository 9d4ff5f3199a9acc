// Receives webhook deliveries behind a middleware. Start it with WEBHOOK_SECRET and PORT in the environment.
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
)

type event struct {
	ID           string          `json:"id"`
	Type         string          `json:"type"`
	Created      string          `json:"created"`
	AgentID      string          `json:"agent_id"`
	DeploymentID *string         `json:"deployment_id"`
	Data         json.RawMessage `json:"data"`
}

// signedOnly reads the body to check its signature, and gives it to the next handler again.
func signedOnly(secret []byte, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 4<<20))
		given := r.Header.Get("X-Service-Signature")
		mac := hmac.New(sha256.New, secret)
		mac.Write(body)
		expected := hex.EncodeToString(mac.Sum(nil))
		if err != nil || !hmac.Equal([]byte(expected), []byte(given)) {
			http.Error(w, "The signature is wrong.", http.StatusUnauthorized)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next(w, r)
	}
}

func receive(w http.ResponseWriter, r *http.Request) {
	var received event
	if err := json.NewDecoder(r.Body).Decode(&received); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	log.Print(received.Type) // Put the event into a queue here, and handle it later.
	w.WriteHeader(http.StatusNoContent)
}

func main() {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /", signedOnly([]byte(os.Getenv("WEBHOOK_SECRET")), receive))
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), mux))
}
