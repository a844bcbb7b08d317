/**
 * The compatibility page: what differs, counts for each topic, every skipped or failed case, and every rule in folded
 * sections.
 */
import { foreignClients } from './foreign-clients.ts'
import { kubernetesSuites, suiteNames } from './kubernetes-suites.ts'
import type { CaseResult } from './runner.ts'

/** The results of one server. */
interface ServerReport {
  readonly server: string
  readonly results: readonly CaseResult[]
}

const header = `<!-- Generated from the results of the API server conformance suite. Do not edit. -->

# Compatibility

Evenkeel's API server behaves like kube-apiserver 1.36.4. Each rule on this page is a test case that passed on a real
kube-apiserver first. The same cases run in our tests: in process, over HTTPS, on memory, on files and on etcd.

| Question | Answer |
|---|---|
| What is missing or different? | [What differs](#what-differs), each with its reason |
| What do the tests of Kubernetes say? | [Kubernetes' own suites](#kubernetes-own-suites) |
| Does my client work? | [Clients of other languages](#clients-of-other-languages) |
| How does it behave in detail? | [The cases](#the-cases), by area |

## What differs

**Not supported yet**

| What | Instead |
|---|---|
| \`exec\`, \`attach\`, \`port-forward\`, running pods, webhooks inside the cluster | they need a kubelet, or a stand-in such as kwok |
| FlowSchemas and PriorityLevelConfigurations are stored and not used | [limits](guides/server.md#limits) are options of the server |
| ResourceQuotas limit numbers of objects, but not amounts such as \`requests.cpu\`, node ports or scopes | |
| the admission plugins CertificateApproval, CertificateSigning, CertificateSubjectRestriction, ClusterTrustBundleAttest, NodeDeclaredFeatureValidator, PersistentVolumeClaimResize, PodGroupProtection, PodResizeValidator, PodTopologyLabels | an admission webhook or policy |
| \`shardSelector\` (alpha) | |

CBOR is off by default, as in Kubernetes 1.36: the feature gate CBORServingAndStorage turns it on.

**Stricter**, because one process serves all callers on one event loop ([limits](guides/server.md#limits))

| What | Evenkeel | kube-apiserver |
|---|---|---|
| more than 100,000 values in a document, 150,000 tokens of YAML, 10,000 finalizers, a million instructions in the patterns of a CRD, 3 MiB added by defaults; texts that are too long for the patterns or alternatives of a schema | 413 | limits of bytes only |
| errors in one response | the first 1,000, or 256 KiB of them | all |
| \`managedFields\` of a client with more than 1,000 entries | ignored, as damaged ones are | parsed |
| a body that arrives slower than 4 KiB a second after ten seconds, chunks of one byte, tiny HTTP/2 frames | refused | accepted |
| POST to the path of a custom object | 405 | creates the object in the body, after authorizing the name in the path |
| authorization mode always-allow | authenticated users only | anonymous users too |

**More lenient**

| What | Evenkeel | kube-apiserver |
|---|---|---|
| a watch over a WebSocket without an \`Origin\` header | accepted; if there is one, it must be that of the server | needs the header |
| size of an object | up to the 3 MiB of a request | about 1.5 MiB, a limit of its etcd |

**Other**

| What | Evenkeel | kube-apiserver |
|---|---|---|
| descriptions in OpenAPI v2 and v3, which \`kubectl explain\` prints | our own words, at the same places, with the same lists of allowed values | those of Kubernetes |
| a time that was never set (\`lastTransitionTime\` of a condition of a Namespace) | absent | sometimes null |
`

/** The areas of the suite, by the topic under which the page shows them. */
const topics: readonly (readonly [title: string, areas: readonly string[]])[] = [
  ['Create, update, patch', ['create', 'names', 'validation', 'dry-run', 'update', 'generation', 'patch', 'strategic']],
  ['Server-side apply', ['apply', 'apply-request', 'managed', 'apply-kinds']],
  ['Subresources', ['status', 'scale', 'binding', 'eviction', 'create-only']],
  ['Delete and garbage collection', ['delete', 'delete-collection', 'graceful', 'garbage', 'storage-protection']],
  ['Get, list, watch, tables', ['get', 'list', 'versions', 'paging', 'forms', 'accept', 'tables', 'watch']],
  [
    'Custom resources',
    [
      'definitions',
      'definition-versions',
      'definition-published',
      'conversion',
      'custom-values',
      'custom-shape',
      'custom',
      'custom-status',
      'custom-scale',
      'custom-routes',
      'custom-columns',
      'custom-select',
      'custom-metadata',
      'rules',
    ],
  ],
  [
    'Built-in kinds',
    [
      'defaults',
      'pods',
      'immutable',
      'namespaces',
      'events',
      'leases',
      'system-objects',
      'component-statuses',
      'service-addresses',
      'node-ports',
    ],
  ],
  [
    'Admission',
    [
      'webhooks',
      'policies',
      'mutating-policies',
      'quotas',
      'limit-ranges',
      'priorities',
      'runtime-classes',
      'taints',
      'default-classes',
      'service-accounts',
      'pod-security',
    ],
  ],
  ['Authentication and authorization', ['auth', 'tokens', 'impersonation', 'permission']],
  [
    'Wire formats, discovery, OpenAPI',
    ['content', 'input', 'integers', 'cbor', 'routes', 'discovery', 'openapi', 'operations', 'aggregation'],
  ],
]

/** Markdown for docs/compatibility.md. @throws {Error} for an area without a topic */
export function renderReport(reports: readonly ServerReport[]): string {
  return [header, renderSuites(), foreignClients, ...reports.map(renderServer)].join('\n')
}

/** Kubernetes' own suites: the counts, and each failure with its reason. */
function renderSuites(): string {
  const rows = suiteNames.map((name) => {
    const { tests, before, ran, passed } = kubernetesSuites[name]
    return `| ${name} | ${tests} | ${before} | ${ran} | ${passed} |`
  })
  const failures = suiteNames.flatMap((name) =>
    kubernetesSuites[name].failures.map(
      ({ tests, reason }) => `- ${name}: ${tests.map((test) => `\`${test}\``).join(', ')}: ${reason}.`,
    ),
  )
  return [
    "## Kubernetes' own suites\n",
    'The test programs of Kubernetes 1.36.0 on an Evenkeel server. `npm run judge` repeats a run with programs that you build:',
    '[how](guides/judge.md). "First" is passed of ran at the first run, before its findings were mended.\n',
    ['| Suite | Tests | First | Ran | Passed |', '|---|---|--:|--:|--:|', ...rows, ''].join('\n'),
    folded('Every failure that is left, with its reason', failures.join('\n')),
  ].join('\n')
}

function renderServer({ server, results }: ServerReport): string {
  const areas = byArea(results)
  const known = new Set(topics.flatMap(([, names]) => names))
  const unknown = [...areas.keys()].filter((area) => !known.has(area))
  if (unknown.length > 0) throw new Error(`add these areas to a topic in case-report.ts: ${unknown.join(', ')}`)
  const sections = topics.map(([title, names]) => ({
    title,
    results: names.flatMap((name) => areas.get(name) ?? []),
    text: names.map((name) => renderArea(name, areas.get(name) ?? [])).join('\n'),
  }))
  const counts = (some: readonly CaseResult[]): string =>
    `${countOf(some, 'passed')} | ${countOf(some, 'failed')} | ${countOf(some, 'skipped')}`
  return [
    '## The cases\n',
    `| ${server} | Passed | Failed | Skipped |\n|---|--:|--:|--:|`,
    ...sections.map(({ title, results: some }) => `| ${title} | ${counts(some)} |`),
    `| **all** | ${counts(results)} |\n`,
    ...renderExceptions(results, 'failed'),
    ...renderExceptions(results, 'skipped'),
    ...sections.map(({ title, text, results: some }) => folded(`${title}: ${some.length} cases`, text)),
  ].join('\n')
}

function renderExceptions(results: readonly CaseResult[], outcome: 'failed' | 'skipped'): string[] {
  const some = results.filter((result) => result.outcome === outcome)
  if (some.length === 0) return []
  const title = outcome === 'failed' ? 'Failed' : 'Skipped, because Evenkeel differs on purpose'
  return [
    `${title}:\n`,
    ...some.map(({ id, rule, reason = '' }) => `- \`${id}\`: ${rule} *${escaped(firstLine(reason))}*`),
    '',
  ]
}

function renderArea(area: string, results: readonly CaseResult[]): string {
  return `### ${area}\n\n${results.map(({ id, rule }) => `- ${rule} (\`${id}\`)`).join('\n')}\n`
}

/** A section that a reader opens; Markdown inside needs the empty lines. */
function folded(title: string, text: string): string {
  return `<details>\n<summary>${title}</summary>\n\n${text.trimEnd()}\n\n</details>\n`
}

/** `server/create/…` belongs to the area `create`. */
function byArea(results: readonly CaseResult[]): Map<string, CaseResult[]> {
  const areas = new Map<string, CaseResult[]>()
  for (const result of results) {
    const area = result.id.split('/')[1] ?? ''
    areas.set(area, [...(areas.get(area) ?? []), result])
  }
  return areas
}

function countOf(results: readonly CaseResult[], wanted: CaseResult['outcome']): number {
  return results.filter(({ outcome }) => outcome === wanted).length
}

function firstLine(text: string): string {
  return text.split('\n')[0]?.slice(0, 200) ?? ''
}

function escaped(text: string): string {
  return text.replace(/[*_|<>`]/g, (character) => `\\${character}`)
}
