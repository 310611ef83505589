package history_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/history"
)

// Whoever answers in place of a driver may have rows without end: they are read up to a limit,
// which the error names. The rows before it stay.
func TestPagesWithoutEnd(t *testing.T) {
	for name, row := range map[string]string{
		"many rows": `{"taskId":%d}`,
		"long rows": `{"taskId":%d,"host":"` + strings.Repeat("x", 500) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			pages := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				pages++
				from, _ := strconv.Atoi(r.FormValue("offset"))
				length, _ := strconv.Atoi(r.FormValue("length"))
				rows := make([]string, length)
				for i := range rows {
					rows[i] = fmt.Sprintf(row, from+i)
				}
				respond(w, "["+strings.Join(rows, ",")+"]")
			}))
			t.Cleanup(server.Close)
			o := quick()
			o.MaxBody = 8 << 20
			client, err := history.Open(server.URL, o)
			require.NoError(t, err)
			all, err := client.UI("a", "").Tasks(t.Context(), 1, 0)
			require.ErrorIs(t, err, history.ErrTooLong)
			require.ErrorContains(t, err, "read /stages/1/0/taskList: longer than the limit: after ")
			require.ErrorContains(t, err, "at most 32768 rows or 33554432 bytes are read")
			require.GreaterOrEqual(t, len(all), 32768)
			require.Less(t, pages, 30)
		})
	}
}
