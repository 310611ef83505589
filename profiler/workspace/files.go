package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/eventlog/remotefile"
)

// Files is an fs.FS of a workspace's volumes (Files API 2.0). A name is a path without the slash in
// front: Volumes/catalog/schema/volume/…. Its context ends every request, since the methods of fs.FS
// take none.
type Files struct {
	ctx    context.Context
	client *Client
}

// Files returns the files of the volumes.
func (c *Client) Files(ctx context.Context) *Files { return &Files{ctx: ctx, client: c} }

// Open reads a file. A connection that breaks ends the reading with an error.
func (f *Files) Open(name string) (fs.File, error) {
	answer, err := f.ask(name, nil)
	if err != nil {
		return nil, err
	}
	if answer.ContentLength < 0 {
		_ = answer.Body.Close()
		return nil, fmt.Errorf("read /%s: %w", name, errNoLength)
	}
	info := remotefile.Info{Base: path.Base(name), Bytes: answer.ContentLength}
	modified := answer.Header.Get("Last-Modified")
	if at, err := http.ParseTime(modified); err == nil {
		info.Time = at
	}
	return remotefile.New("/"+name, info, answer.Body, func(off int64) (io.ReadCloser, error) {
		header := http.Header{"Range": {fmt.Sprintf("bytes=%d-", off)}}
		if modified != "" {
			header.Set("If-Unmodified-Since", modified)
		}
		rest, err := f.ask(name, header)
		if err != nil {
			return nil, err
		}
		if rest.StatusCode != http.StatusPartialContent {
			_ = rest.Body.Close()
			return nil, errors.New("the server sends files from their beginning only")
		}
		return rest.Body, nil
	}), nil
}

// errNoLength is of a file that is compressed on its way, so that no byte has a known place.
var errNoLength = errors.New("the server does not say how long the file is")

func (f *Files) ask(name string, header http.Header) (*http.Response, error) {
	if header == nil {
		header = http.Header{}
	}
	header.Set("Accept-Encoding", "identity") // as it is stored: logs are compressed files
	answer, err := f.client.get(f.ctx, "/api/2.0/fs/files/"+name, nil, header)
	return answer, known(err)
}

// known gives Databricks' refusals the meaning that readers of files know.
func known(err error) error {
	var refused *APIError
	switch {
	case !errors.As(err, &refused):
		return err
	case refused.Status == http.StatusNotFound:
		return fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	case refused.Status == http.StatusForbidden:
		return fmt.Errorf("%w: %w", fs.ErrPermission, err)
	}
	return err
}

// filePage is how many entries of a folder are asked for at a time; the API takes 1000 at most.
const filePage = 1000

// ReadDir lists a folder.
func (f *Files) ReadDir(name string) ([]fs.DirEntry, error) {
	type answer struct {
		Contents []struct {
			Name     string `json:"name"`
			Folder   bool   `json:"is_directory"`
			Bytes    int64  `json:"file_size"`
			Modified Millis `json:"last_modified"`
		} `json:"contents"`
		Next string `json:"next_page_token"`
	}
	var entries []fs.DirEntry
	err := pages(f.ctx, f.client, "/api/2.0/fs/directories/"+name, filePage, func(a answer) (next string) {
		for _, found := range a.Contents {
			if !fs.ValidPath(found.Name) || strings.Contains(found.Name, "/") {
				continue // no name of a file, and no way out of the folder
			}
			entries = append(entries, fs.FileInfoToDirEntry(remotefile.Info{
				Base: found.Name, Bytes: found.Bytes, Time: found.Modified.Time(), Folder: found.Folder,
			}))
		}
		return a.Next
	})
	if err != nil {
		return nil, known(err)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}
