package kafka

import (
	"net/http"
	"strings"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/lambda"
)

// Path is where lambdas are registered.
const Path = "/kafka/register/"

// Handler answers Path: POST NAME starts a lambda's consumers, DELETE NAME
// stops them, GET lists those that run here. refuse answers with the error of
// looking a lambda up.
func (m *Manager) Handler(refuse func(w http.ResponseWriter, r *http.Request, name string, err error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, Path)
		switch {
		case name == "" && r.Method == http.MethodGet:
			api.WriteJSON(w, http.StatusOK, m.Names())
		case r.Method != http.MethodPost && r.Method != http.MethodDelete:
			w.Header().Set("Allow", "POST, DELETE")
			api.NewProblem(http.StatusMethodNotAllowed, "method-not-allowed", "use POST or DELETE on "+Path+"NAME").Write(w, r)
		case lambda.CheckName(name) != nil:
			api.NewProblem(http.StatusBadRequest, "bad-name", lambda.CheckName(name).Error()).Write(w, r)
		case r.Method == http.MethodDelete:
			m.unregister(w, r, name)
		default:
			m.register(w, r, name, refuse)
		}
	})
}

func (m *Manager) unregister(w http.ResponseWriter, r *http.Request, name string) {
	if !m.Unregister(name) {
		api.NewProblem(http.StatusNotFound, "not-registered", "the Kafka consumers of "+name+" were not registered here").Write(w, r)
		return
	}
	api.WriteJSON(w, http.StatusOK, map[string]string{"function": name, "kafka": "unregistered"})
}

func (m *Manager) register(w http.ResponseWriter, r *http.Request, name string, refuse func(http.ResponseWriter, *http.Request, string, error)) {
	switch err := m.Register(r.Context(), name); err {
	case nil:
		api.WriteJSON(w, http.StatusOK, map[string]string{"function": name, "kafka": "registered"})
	case ErrNoTrigger:
		api.NewProblem(http.StatusConflict, "no-kafka-trigger", err.Error()).Write(w, r)
	default:
		refuse(w, r, name, err)
	}
}
