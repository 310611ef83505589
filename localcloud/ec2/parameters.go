package ec2

import (
	"encoding/json"
	"net/http"
)

// Parameters serves Systems Manager's GetParameter (AWS JSON 1.1), the only
// operation that instances call.
func (s *Service) Parameters() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		fail := func(kind, message string) {
			w.WriteHeader(http.StatusBadRequest)
			_ = json.NewEncoder(w).Encode(map[string]string{"__type": kind, "message": message})
		}
		if target := r.Header.Get("X-Amz-Target"); target != "AmazonSSM.GetParameter" {
			fail("UnknownOperationException", "the local Systems Manager supports only GetParameter, not "+target)
			return
		}
		if r.Header.Get("Authorization") == "" {
			fail("MissingAuthenticationToken", "the request is not signed")
			return
		}
		var in struct{ Name string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			fail("SerializationException", err.Error())
			return
		}
		s.mu.Lock()
		value, ok := s.parameters[in.Name]
		s.mu.Unlock()
		if !ok {
			fail("ParameterNotFound", in.Name)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"Parameter": map[string]any{
			"Name": in.Name, "Type": "SecureString", "Value": value, "Version": 1, "DataType": "text",
		}})
	})
}
