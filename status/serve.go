package status

import (
	"encoding/json"
	"net/http"
)

// Path is where the status is served.
const Path = "/status"

// Handler serves GET /status, one part of it with ?section=, and /healthz for the
// server itself.
func Handler(config Config) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+Path, func(w http.ResponseWriter, r *http.Request) {
		section := r.URL.Query().Get("section")
		if section == "" {
			writeJSON(w, http.StatusOK, Read(r.Context(), config))
			return
		}
		if _, err := (Status{}).Section(section); err != nil {
			writeJSON(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
			return
		}
		part, err := Read(r.Context(), config).Section(section)
		if err != nil {
			writeJSON(w, http.StatusInternalServerError, map[string]string{"error": err.Error()})
			return
		}
		writeJSON(w, http.StatusOK, part)
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("ok\n")) // fails only if the client is gone
	})
	return mux
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	_ = encoder.Encode(value) // fails only if the client is gone: the types always encode
}
