/**
 * The compatibility page: counts for each area, every skipped or failed case, every rule.
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

Every rule below is a case that first passed against a real kube-apiserver 1.36.4. The same cases run in our tests: in process,
over HTTPS, on memory, on files and on etcd. Deliberate differences, and cases that a server cannot run, are skipped with the
reason.

CBOR is off by default, as in Kubernetes 1.36: the feature gate CBORServingAndStorage turns it on.

Not supported yet: \`exec\`, \`attach\` and \`port-forward\`. Of the default admission plugins CertificateApproval,
CertificateSigning, CertificateSubjectRestriction, ClusterTrustBundleAttest, NodeDeclaredFeatureValidator,
PersistentVolumeClaimResize, PodGroupProtection, PodResizeValidator and PodTopologyLabels do not exist. FlowSchemas and
PriorityLevelConfigurations are stored and not used: [limits](guides/server.md#limits) are options of the server.
ResourceQuotas limit numbers of objects; amounts such as \`requests.cpu\`, node ports and scopes limit nothing. What needs containers
(running pods, webhooks inside the cluster) needs a kubelet or a stand-in such as kwok.

Stricter on purpose, because one process serves everybody on one event loop (see [limits](guides/server.md#limits)):

- A document of more than 100,000 values, YAML of more than 150,000 tokens, more than 10,000 finalizers, patterns of a CRD with
  more than a million instructions, defaults that add more than 3 MiB, and texts that are too long for the patterns or
  alternatives of a schema get 413. kube-apiserver has only limits of bytes there.
- A response shows the first 1,000 errors of an object, or 256 KiB of them.
- \`managedFields\` of a client with more than 1,000 entries are ignored, as damaged ones are.
- Bodies must arrive at 4 KiB a second after the first ten seconds; chunks of one byte and tiny HTTP/2 frames are refused.

Stricter for another reason: a POST to the path of a custom object is a 405. kube-apiserver takes it as a creation of the object in
the body, after it has authorized the name in the path.

Different words: the descriptions in OpenAPI v2 and v3, which \`kubectl explain\` prints, are our own. They are at the same places as
those of kube-apiserver, with the same lists of allowed values. \`shardSelector\` (alpha) is not listed, because it is not supported.

More lenient on purpose: a watch over a WebSocket needs no \`Origin\` header; if there is one, it must be that of the server. An
object may have up to the 3 MiB of a request; kube-apiserver refuses more than about 1.5 MiB, because its etcd does.

Otherwise on purpose: the mode always-allow allows authenticated users only, not anonymous ones. A time that was never set is absent;
kube-apiserver writes some of them as null (\`lastTransitionTime\` of a condition of a Namespace).
`

/** Markdown for docs/compatibility.md. */
export function renderReport(reports: readonly ServerReport[]): string {
  return [
    header,
    renderSuites(),
    foreignClients,
    ...reports.map(renderServer),
    renderRules(reports[0]?.results ?? []),
  ].join('\n')
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
    ['| Suite | Tests | First | Ran | Passed |', '|---|---|--:|--:|--:|', ...rows].join('\n'),
    '\nEvery failure that is left, with its reason:\n',
    ...failures,
    '',
  ].join('\n')
}

function renderServer({ server, results }: ServerReport): string {
  const rows = [...byArea(results)].map(
    ([area, some]) =>
      `| ${area} | ${countOf(some, 'passed')} | ${countOf(some, 'failed')} | ${countOf(some, 'skipped')} |`,
  )
  const totals = `| **all** | ${countOf(results, 'passed')} | ${countOf(results, 'failed')} | ${countOf(results, 'skipped')} |`
  const table = ['| Area | Passed | Failed | Skipped |', '|---|--:|--:|--:|', ...rows, totals].join('\n')
  return [
    `## ${server}\n`,
    table,
    ...renderExceptions(results, 'failed'),
    ...renderExceptions(results, 'skipped'),
    '',
  ].join('\n')
}

function renderExceptions(results: readonly CaseResult[], outcome: 'failed' | 'skipped'): string[] {
  const some = results.filter((result) => result.outcome === outcome)
  if (some.length === 0) return []
  const title = outcome === 'failed' ? 'Failed' : 'Skipped'
  return [
    `\n### ${title}\n`,
    ...some.map(({ id, rule, reason = '' }) => `- \`${id}\`: ${rule} *${escaped(firstLine(reason))}*`),
  ]
}

function renderRules(results: readonly CaseResult[]): string {
  const areas = [...byArea(results)].map(
    ([area, some]) => `### ${area}\n\n${some.map(({ id, rule }) => `- ${rule} (\`${id}\`)`).join('\n')}\n`,
  )
  return ['## The rules\n', ...areas].join('\n')
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
