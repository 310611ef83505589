package persistentui

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// HDFS reads a cluster's file system through WebHDFS, over HTTP.
type HDFS struct {
	NameNode string            // host:port of its web page
	Hosts    map[string]string // addresses by node name: the NameNode redirects to DataNodes
	User     string            // user of the NameNode, who may read every user's files
	EventLog string            // folder of Spark's event logs
}

// requestTime bounds the connection to a node and the wait for the start of its response.
// The first response of a busy NameNode takes seconds.
const requestTime = time.Minute

// fileStatus is WebHDFS' FileStatus.
type fileStatus struct {
	Name             string `json:"pathSuffix"`
	Type             string `json:"type"` // FILE or DIRECTORY
	Length           int64  `json:"length"`
	ModificationTime int64  `json:"modificationTime"` // ms since 1970
}

func (f fileStatus) modified() time.Time { return time.UnixMilli(f.ModificationTime) }

// list returns the files and folders in a folder.
func (h HDFS) list(ctx context.Context, path string) ([]fileStatus, error) {
	body, err := h.get(ctx, path, url.Values{"op": {"LISTSTATUS"}})
	if err != nil {
		return nil, fmt.Errorf("list hdfs://%s: %w", path, err)
	}
	defer body.Close()
	var response struct {
		FileStatuses struct {
			FileStatus []fileStatus `json:"FileStatus"`
		} `json:"FileStatuses"`
	}
	if err := json.NewDecoder(body).Decode(&response); err != nil {
		return nil, fmt.Errorf("list hdfs://%s: %w", path, err)
	}
	return response.FileStatuses.FileStatus, nil
}

// open returns a file's content from an offset on. For a file that is being written, that is
// what the writer has flushed.
func (h HDFS) open(ctx context.Context, path string, offset int64) (io.ReadCloser, error) {
	body, err := h.get(ctx, path, url.Values{"op": {"OPEN"}, "offset": {strconv.FormatInt(offset, 10)}})
	if err != nil {
		return nil, fmt.Errorf("read hdfs://%s: %w", path, err)
	}
	return body, nil
}

func (h HDFS) get(ctx context.Context, path string, query url.Values) (io.ReadCloser, error) {
	query.Set("user.name", h.User)
	address := url.URL{Scheme: "http", Host: h.NameNode, Path: "/webhdfs/v1" + path, RawQuery: query.Encode()}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return nil, err
	}
	client := http.Client{Transport: &http.Transport{DialContext: h.dial, DisableKeepAlives: true, ResponseHeaderTimeout: requestTime}}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(response.Body, maxTailBytes))
		return nil, fmt.Errorf("%s: %s", response.Status, text)
	}
	return response.Body, nil
}

// dial connects to a node by its name, which only the cluster's own nodes can resolve.
func (h HDFS) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if known := h.Hosts[host]; known != "" {
		host = known
	}
	d := net.Dialer{Timeout: requestTime}
	return d.DialContext(ctx, network, net.JoinHostPort(host, port))
}
