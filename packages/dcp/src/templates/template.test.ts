/** The part of Go's text templates that applications use. */
import { expect, test } from 'vitest'
import { renderTemplate, TemplateError } from './template.ts'

const context = {
  functions: { portForServing: (name: unknown) => (name === 'web' ? 5000 : 6000) },
  object: {
    metadata: { name: 'app', annotations: { 'otel-service-name': 'shop' } },
    spec: { executablePath: '/bin/app', args: ['a', 'b'] },
  },
}

test.each([
  ['no template at all', 'no template at all'],
  ['http://localhost:{{- portForServing "web" -}}/x', 'http://localhost:5000/x'],
  ['{{portForServing `web`}}', '5000'],
  ['a {{- portForServing "web" -}} b', 'a5000b'],
  ['a {{ portForServing "web" }} b', 'a 5000 b'],
  ['{{ portForServing "db" }};{{ portForServing "web" }}', '6000;5000'],
  ['{{- index .Annotations "otel-service-name" -}}', 'shop'],
  ['[{{ index .Annotations "absent" }}][{{ index .Labels "absent" }}]', '[][]'],
  ['{{ .Name }} {{ .ObjectMeta.Name }} {{ .Spec.ExecutablePath }}', 'app app /bin/app'],
  ['{{ index .Spec.Args 1 }} {{ len .Spec.Args }}', 'b 2'],
  ['{{ "web" | portForServing | print "port " }}', 'port 5000'],
  ['{{ print (portForServing "web") "!" }}', '5000!'],
  ['a{{/* nothing }} here */}}b', 'ab'],
  // Braces that mean something else.
  ['{{', '{{'],
  ['{{}}', '{{}}'],
  ['{{ if .Name }}x{{ end }}', '{{ if .Name }}x{{ end }}'],
  ['{{ "open }}', '{{ "open }}'],
  ['{"a":{"b":{{}}}', '{"a":{"b":{{}}}'],
])('%s is %s', (text, value) => {
  expect(renderTemplate(text, context)).toBe(value)
})

test.each(['{{ unknown "web" }}', '{{ .Spec.Args.Nothing }}', '{{ index .Spec.Args 5 }}', '{{ .Name "x" }}'])(
  '%s has no value',
  (text) => {
    expect(() => renderTemplate(text, context)).toThrow(TemplateError)
  },
)
