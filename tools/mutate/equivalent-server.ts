/**
 * Equivalent mutants of the layer server.
 */
import type { Equivalent } from './equivalent.ts'

export const serverEquivalents: readonly Equivalent[] = [
  {
    file: 'server/admission/webhook-plugins.ts',
    original: 'false',
    mutated: 'true',
    line: 'admitted.user === undefined) return false',
    because: 'The draft is decoded once more, which changes nothing in an object that the server itself has written.',
  },
  {
    file: 'server/auth/impersonation.ts',
    original: 'false',
    mutated: 'true',
    line: 'rulesFor: () =>',
    because: 'Only `decide` of this chain is called.',
  },
  {
    file: 'server/authz/rbac.ts',
    original: 'inside.set(namespace, scope)',
    mutated: 'undefined',
    because: 'A cache: without it the rights in a namespace are computed again.',
  },
  {
    file: 'server/crd/crd-controller.ts',
    original: 'true',
    mutated: 'false',
    line: 'serving.isClosed = true',
    because:
      'The same resources are registered again with the next event; discovery and OpenAPI are computed again, with the same content.',
  },
  {
    file: 'server/crd/json-path.ts',
    original: '0',
    mutated: '(0 + 1)',
    line: 'const inner = end < 0',
    because: 'The end comes after the opening quote or bracket, so it is never at position 0.',
  },
  {
    file: 'server/flowcontrol/list-scheduler.ts',
    original: '0',
    mutated: '(0 + 1)',
    line: 'this.#items > 0',
    because: 'Only multiples of 16 come here, and 1 is none.',
  },
  {
    file: 'server/handler.ts',
    original: 'await loadPatternEngine()',
    mutated: 'undefined',
    because:
      'The strategy of CRDs loads the engine before it validates one, and the CRD controller before it serves one.',
  },
  {
    file: 'server/handlers/create.ts',
    original: '0',
    mutated: '(0 + 1)',
    line: 'withoutVersion(unstamped)',
    because:
      'The revision is only compared with that of the CRD: an object without one counts as older, and no CRD has a revision below 1.',
  },
  {
    file: 'server/list/compressed-list.ts',
    original: '1024',
    mutated: '(1024 + 1)',
    line: 'bytesMax = 32',
    because: 'The default size of a cache: a run that is no longer there is compressed again.',
  },
  {
    file: 'server/list/selection.ts',
    original: "scope === 'Cluster' || inside !== ''",
    mutated: "scope === 'Cluster' && inside !== ''",
    because: 'A fast path: without the key all objects are read or watched, and the field selector picks the same one.',
  },
  {
    file: 'server/listen/http1-connection.ts',
    original: 'rest.length > 0',
    mutated: 'rest.length >= 0',
    line: 'this.#input = this.#input ?',
    because: 'Every reader of the input treats an empty buffer like none.',
  },
  {
    file: 'server/listen/http1-head.ts',
    original: 'lineEnd < 0',
    mutated: 'lineEnd <= 0',
    line: 'const line =',
    because: 'Empty lines before the request are skipped, so a head does not begin with a line break.',
  },
  {
    file: 'server/listen/http2-connection.ts',
    original: '1_024',
    mutated: '(1024 + 1)',
    line: 'sessionMegabytes',
    because: 'A limit in MiB that no session comes near.',
  },
  {
    file: 'server/listen/listener.ts',
    original: '1',
    mutated: '(1 + 1)',
    line: '#perAddress.get(address) ?? 1',
    because: 'The address of an open connection is always counted.',
  },
  {
    file: 'server/listen/listener.ts',
    original: `server.on('tlsClientError', (error) => {
      this.#options.log.debug('TLS handshake failed', { error })
    })`,
    mutated: 'undefined',
    because: 'A log line: Node closes the socket with or without a listener.',
  },
  {
    file: 'server/openapi/operations.ts',
    original: '1',
    mutated: '(1 + 1)',
    line: 'a.name < b.name',
    because: 'Only the sign of a comparison counts.',
  },
  {
    file: 'server/registry/field-manager.ts',
    original: 'source === undefined || source === other',
    mutated: 'source === undefined && source === other',
    because: 'Never true: an object is only converted to another version than its own, and its own version is served.',
  },
  {
    file: 'server/registry/validation.ts',
    original: "[fieldError.required(metadataPath.child('namespace'))]",
    mutated: 'undefined',
    because:
      'Never reached: the path of a write to a namespaced kind has a namespace, which the object gets before it is validated.',
  },
  {
    file: 'server/server.ts',
    original: 'options && identity',
    mutated: 'options || identity',
    because: 'There is an identity exactly when there are options to listen with.',
  },
  {
    file: 'server/webhooks/https-json-client.ts',
    original: 'false',
    mutated: 'true',
    line: 'duplicates: false',
    because: 'Only the value is used, not the duplicate keys that were found.',
  },
]
