package localcloud

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/emr-observatory/emr-observatory/localcloud/forwarder"
	"github.com/emr-observatory/emr-observatory/simulator"
)

// grafanaTimeout bounds a request to Grafana.
const grafanaTimeout = 30 * time.Second

// grafanaKind is how Grafana's HTTP API names a kind of object and takes it.
type grafanaKind struct {
	create   string // path of a POST
	replaces bool   // the POST also replaces; otherwise a PUT at object does
	object   string // path of one, before its uid
	// body returns the uid and the request's body.
	body func(inputs resource.PropertyMap) (uid string, body map[string]any, err error)
}

// grafanaKinds returns the kinds that the program creates, by type token (Grafana's HTTP
// API reference: data source, folder and dashboard).
func grafanaKinds() map[string]grafanaKind {
	return map[string]grafanaKind{
		"grafana:oss/dataSource:DataSource": {
			create: "/api/datasources", object: "/api/datasources/uid/", body: dataSourceBody,
		},
		"grafana:oss/folder:Folder": {create: "/api/folders", object: "/api/folders/", body: folderBody},
		"grafana:oss/dashboard:Dashboard": {
			create: "/api/dashboards/db", replaces: true, object: "/api/dashboards/uid/", body: dashboardBody,
		},
	}
}

func dataSourceBody(inputs resource.PropertyMap) (string, map[string]any, error) {
	settings := map[string]any{}
	if err := json.Unmarshal([]byte(text(inputs, "jsonDataEncoded")), &settings); err != nil {
		return "", nil, fmt.Errorf("decode jsonDataEncoded: %w", err)
	}
	uid := text(inputs, "uid")
	return uid, map[string]any{
		"uid": uid, "name": text(inputs, "name"), "type": text(inputs, "type"), "url": text(inputs, "url"),
		"access": text(inputs, "accessMode"), "isDefault": inputs["isDefault"].IsBool() && inputs["isDefault"].BoolValue(),
		"jsonData": settings,
	}, nil
}

func folderBody(inputs resource.PropertyMap) (string, map[string]any, error) {
	uid := text(inputs, "uid")
	return uid, map[string]any{"uid": uid, "title": text(inputs, "title"), "overwrite": true}, nil
}

func dashboardBody(inputs resource.PropertyMap) (string, map[string]any, error) {
	var dashboard map[string]any
	if err := json.Unmarshal([]byte(text(inputs, "configJson")), &dashboard); err != nil {
		return "", nil, fmt.Errorf("decode configJson: %w", err)
	}
	uid, _ := dashboard["uid"].(string)
	return uid, map[string]any{
		"dashboard": dashboard, "folderUid": text(inputs, "folder"), "message": text(inputs, "message"), "overwrite": true,
	}, nil
}

// grafanaObject is an object in the Grafana that is installed on this machine. One that
// exists already is replaced, as after an update that was interrupted.
type grafanaObject struct {
	server forwarder.Options
	kind   grafanaKind
}

func (h grafanaObject) exists(ctx context.Context, r simulator.Result) (bool, error) {
	uid, _, err := h.kind.body(r.Outputs)
	if err != nil {
		return false, err
	}
	return h.call(ctx, http.MethodGet, h.kind.object+uid, nil)
}

func (h grafanaObject) remove(ctx context.Context, r simulator.Request) error {
	uid, _, err := h.kind.body(r.Outputs)
	if err != nil {
		return err
	}
	_, err = h.call(ctx, http.MethodDelete, h.kind.object+uid, nil)
	return err
}

func (h grafanaObject) put(ctx context.Context, r simulator.Result) error {
	uid, body, err := h.kind.body(r.Outputs)
	if err != nil {
		return err
	}
	if !h.kind.replaces {
		exists, err := h.call(ctx, http.MethodGet, h.kind.object+uid, nil)
		if err != nil {
			return err
		}
		if exists {
			_, err = h.call(ctx, http.MethodPut, h.kind.object+uid, body)
			return err
		}
	}
	_, err = h.call(ctx, http.MethodPost, h.kind.create, body)
	return err
}

// call sends a request to Grafana as its administrator. It reports false if there is no
// such object, which is an error for a request with a body.
func (h grafanaObject) call(ctx context.Context, method, path string, body map[string]any) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, grafanaTimeout)
	defer cancel()
	access, err := h.server.Access()
	if err != nil {
		return false, err
	}
	var content io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return false, err
		}
		content = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, method, "https://"+access.Address+path, content)
	if err != nil {
		return false, err
	}
	request.SetBasicAuth(access.User, access.Password)
	request.Header.Set("Content-Type", "application/json")
	transport := h.server.Transport()
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return false, fmt.Errorf("call Grafana: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	switch {
	case err != nil:
		return false, fmt.Errorf("%s %s: read Grafana's answer: %w", method, path, err)
	case response.StatusCode == http.StatusNotFound && body == nil:
		return false, nil
	case response.StatusCode != http.StatusOK:
		return false, fmt.Errorf("%s %s: Grafana answers %s: %s", method, path, response.Status, answer)
	}
	return true, nil
}
