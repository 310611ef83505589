package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
)

const password = "a-password-of-the-status"

// post sends a wake, and returns the response's status and body.
func post(s *Server, user, given, body string) (int, string) {
	request := httptest.NewRequest(http.MethodPost, WakePath, strings.NewReader(body))
	if user != "" {
		request.SetBasicAuth(user, given)
	}
	response := httptest.NewRecorder()
	s.Handler().ServeHTTP(response, request)
	return response.Code, response.Body.String()
}

func wakeFor(cluster string, numbers ...int) string {
	wake := Wake{Cluster: cluster}
	for _, n := range numbers {
		wake.Applications = append(wake.Applications, fmt.Sprintf("application_17_%04d", n))
	}
	body, _ := json.Marshal(wake)
	return string(body)
}

// woken is a server whose reading of clusters finds what find says.
func woken(find func(Wake) (Found, error)) (s *Server, at *[]time.Duration, read *[]Wake) {
	at, read = new([]time.Duration), new([]Wake)
	started := time.Now()
	s = New(func(context.Context) Report { return Report{Result: Complete, ClustersFound: 1} }, time.Hour)
	s.ServeWakes(password, func(_ context.Context, wake Wake) (Found, error) {
		*at, *read = append(*at, time.Since(started)), append(*read, wake)
		return find(wake)
	})
	return s, at, read
}

// Wakes of one cluster within some seconds are one reading. What it does not find is read again,
// until it is found.
func TestWakesOfAClusterAreOneReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		s, at, read := woken(func(wake Wake) (Found, error) {
			tries++
			switch tries {
			case 1:
				return Found{From: "its persistent UI", Missing: wake.Applications[1:]}, nil
			case 2:
				return Found{}, errors.New("EMR is not there")
			}
			return Found{From: "its persistent UI"}, nil
		})
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go s.Run(ctx)
		for _, body := range []string{wakeFor("j-1", 1), wakeFor("j-1", 2), wakeFor("j-1", 1, 2)} {
			status, text := post(s, platform.StatusUser, password, body)
			require.Equal(t, http.StatusAccepted, status, text)
		}
		time.Sleep(coalescing + time.Second)
		synctest.Wait()
		require.Len(t, *read, 1)
		require.Equal(t, []string{"application_17_0001", "application_17_0002"}, (*read)[0].Applications)
		waiting := s.State().Woken
		require.Len(t, waiting, 1)
		require.Equal(t, []string{"application_17_0002"}, waiting[0].Applications)
		require.Equal(t, "its persistent UI", waiting[0].From)
		time.Sleep(wakeRetry)
		synctest.Wait()
		require.Equal(t, "EMR is not there", s.State().Woken[0].Error)
		time.Sleep(wakeRetry)
		synctest.Wait()
		require.Equal(t, []time.Duration{coalescing, coalescing + wakeRetry, coalescing + 2*wakeRetry}, *at)
		require.Empty(t, s.State().Woken)
		require.Contains(t, get(t, s, "/metrics"), `observatory_profiler_wakes_total{result="read"} 1`)
	})
}

// An application that never appears is left to the next run; one whose cluster the options
// exclude is not read again.
func TestWakesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, at, _ := woken(func(wake Wake) (Found, error) {
			return Found{Missing: wake.Applications, Excluded: wake.Cluster == "j-OTHER"}, nil
		})
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go s.Run(ctx)
		for _, cluster := range []string{"j-1", "j-OTHER"} {
			status, text := post(s, platform.StatusUser, password, wakeFor(cluster, 1))
			require.Equal(t, http.StatusAccepted, status, text)
		}
		time.Sleep(50 * time.Minute)
		synctest.Wait()
		require.Empty(t, s.State().Woken)
		require.Len(t, *at, 1+steadyRetries+4, "one of the excluded cluster; every minute, then less often")
		for _, line := range []string{`{result="excluded"} 1`, `{result="expired"} 1`, `{result="read"} 0`} {
			require.Contains(t, get(t, s, "/metrics"), MetricWakes+line)
		}
	})
}

// Applications that end during a reading are read after it.
func TestWakesDuringAReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s *Server
		s, at, read := woken(func(wake Wake) (Found, error) {
			if len(wake.Applications) == 1 && strings.HasSuffix(wake.Applications[0], "1") {
				status, _ := post(s, platform.StatusUser, password, wakeFor("j-1", 2))
				require.Equal(t, http.StatusAccepted, status)
			}
			return Found{}, nil
		})
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go s.Run(ctx)
		post(s, platform.StatusUser, password, wakeFor("j-1", 1))
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, []time.Duration{coalescing, 2 * coalescing}, *at)
		require.Equal(t, []string{"application_17_0002"}, (*read)[1].Applications)
		require.Empty(t, s.State().Woken)
	})
}

func TestRefusedWakes(t *testing.T) {
	s, _, _ := woken(nil)
	for _, c := range []struct {
		name, user, given, body string
		status                  int
		want                    string
	}{
		{"nobody", "", "", wakeFor("j-1", 1), http.StatusUnauthorized, "log in as"},
		{"another user", "admin", password, wakeFor("j-1", 1), http.StatusUnauthorized, "log in as"},
		{"another password", platform.StatusUser, "guess", wakeFor("j-1", 1), http.StatusUnauthorized, "log in as"},
		{"no JSON", platform.StatusUser, password, "j-1", http.StatusBadRequest, "read the request"},
		{"unknown field", platform.StatusUser, password, `{"clusters": "j-1"}`, http.StatusBadRequest, "clusters"},
		{"everything wrong", platform.StatusUser, password, `{"cluster": "../x", "applications": ["<b>"]}`, http.StatusBadRequest,
			"applications[0]: \"<b>\": must be an id such as"},
		{"no application", platform.StatusUser, password, wakeFor("j-1"), http.StatusBadRequest, "applications: 0: must be 1 to 500"},
		{"large", platform.StatusUser, password, `{"cluster": "` + strings.Repeat("x", maxWakeBody) + `"}`, http.StatusBadRequest, "too large"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, text := post(s, c.user, c.given, c.body)
			require.Equal(t, c.status, status)
			require.Contains(t, text, c.want)
		})
	}
	require.Empty(t, s.State().Woken)
	for n := range maxWoken {
		status, _ := post(s, platform.StatusUser, password, wakeFor(fmt.Sprintf("j-%d", n), 1))
		require.Equal(t, http.StatusAccepted, status)
	}
	status, text := post(s, platform.StatusUser, password, wakeFor("j-MORE", 1))
	require.Equal(t, http.StatusServiceUnavailable, status, text)
	closed := New(nil, time.Hour)
	status, _ = post(closed, platform.StatusUser, password, wakeFor("j-1", 1))
	require.Equal(t, http.StatusNotFound, status, "without a password nobody may")
}
