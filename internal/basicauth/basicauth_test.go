package basicauth_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/basicauth"
	"github.com/emr-observatory/emr-observatory/platform"
)

func TestRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	_, err := basicauth.Read(file)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(file, []byte("short\n"), 0o600))
	_, err = basicauth.Read(file)
	require.EqualError(t, err, file+": 5 bytes: must have 16 or more; generate a longer one")
	require.NoError(t, os.WriteFile(file, []byte("sixteen-letters!\n"), 0o600))
	password, err := basicauth.Read(file)
	require.NoError(t, err)
	require.Equal(t, "sixteen-letters!", password)
}

func TestRequire(t *testing.T) {
	protected := basicauth.Require("the-right-one", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	}))
	for name, c := range map[string]struct {
		user, password string
		want           int
	}{
		"right":            {platform.StatusUser, "the-right-one", http.StatusNoContent},
		"another user":     {"admin", "the-right-one", http.StatusUnauthorized},
		"another password": {platform.StatusUser, "the-right-one ", http.StatusUnauthorized},
		"a moved colon":    {platform.StatusUser + ":the", "right-one", http.StatusUnauthorized},
		"nothing":          {"", "", http.StatusUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			request, response := httptest.NewRequest(http.MethodGet, "/", http.NoBody), httptest.NewRecorder()
			request.SetBasicAuth(c.user, c.password)
			protected.ServeHTTP(response, request)
			require.Equal(t, c.want, response.Code)
		})
	}
}
