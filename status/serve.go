package status

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Path is where the status is served.
const Path = "/status"

const (
	headerPatience = 5 * time.Second
	closePatience  = 5 * time.Second // longer than an answer takes
)

// Handler serves GET /status, one part of it with ?section=, and /healthz,
// which says only that the server itself answers.
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
		_, _ = w.Write([]byte("ok\n")) // the asker has gone otherwise
	})
	return mux
}

// Serve answers on an address (host:port) until ctx ends, and then lets the
// requests that it has taken finish.
func Serve(ctx context.Context, config Config, address string) error {
	if err := config.Validate(); err != nil {
		return fmt.Errorf("serve status:\n%w", err)
	}
	server := &http.Server{Addr: address, Handler: Handler(config), ReadHeaderTimeout: headerPatience}
	ended := make(chan error, 1)
	go func() { ended <- server.ListenAndServe() }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve status on %s: %w", address, err)
	case <-ctx.Done():
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closePatience)
	defer cancel()
	if err := errors.Join(server.Shutdown(closing), ignoreClosed(<-ended)); err != nil {
		return fmt.Errorf("end status server: %w", err)
	}
	return nil
}

func ignoreClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	_ = encoder.Encode(value) // only a gone asker fails: the types always encode
}
