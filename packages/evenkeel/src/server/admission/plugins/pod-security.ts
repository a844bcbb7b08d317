/**
 * PodSecurity: pods have to meet the Pod Security Standards that the labels of their namespace ask for.
 *
 * A violation of the enforced level refuses the pod; of the level to warn about, it adds a warning, also for the template
 * of a Deployment or any other workload; of the level to audit, an annotation of the audit event. A namespace whose level
 * becomes stricter is accepted with warnings about the pods it already has. Texts are those of kube-apiserver.
 */
import {
  compareText,
  deepEqual,
  forbidden,
  formatFieldErrors,
  invalid,
  objectIn,
  objectsIn,
  optionalObjectIn,
  textIn,
  textMapIn,
  type JsonObject,
  type UnstructuredObject,
} from '#api'
import type { Clock } from '#base'
import type { Informer, Informers } from '../../informers.ts'
import type { Registry } from '../../registry/registry.ts'
import type { Storage } from '../../storage/storage.ts'
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts'
import type { CheckedPod, Violation } from './pod-security-checks.ts'
import {
  compareLevels,
  formatLevel,
  hasPodSecurityLabels,
  podSecurityPrefix,
  privilegedPolicy,
  readPodSecurityPolicy,
  sameLevel,
  type LevelVersion,
} from './pod-security-levels.ts'

interface PodSecurityServices {
  readonly informers: Informers
  readonly registry: Registry
  readonly storage: Storage
  readonly clock: Clock
}

const workloads: ReadonlySet<string> = new Set([
  '/replicationcontrollers',
  '/podtemplates',
  'apps/replicasets',
  'apps/deployments',
  'apps/statefulsets',
  'apps/daemonsets',
  'batch/jobs',
  'batch/cronjobs',
])

/** The subresources of pods that change no pod spec. */
const ignoredSubresources: ReadonlySet<string> = new Set([
  'exec',
  'attach',
  'binding',
  'eviction',
  'log',
  'portforward',
  'proxy',
  'status',
])

export function podSecurityPlugin(services: PodSecurityServices): AdmissionPlugin {
  const namespaces = services.informers.forResource('', 'namespaces')
  return {
    name: 'PodSecurity',
    resources: new Set(['/pods', '/namespaces', ...workloads]),
    handles: ({ operation, target: { resource, subresource } }) =>
      (operation === 'CREATE' || operation === 'UPDATE') &&
      (subresource === undefined || (resource.plural === 'pods' && !ignoredSubresources.has(subresource.name))),
    async validate(object, admitted) {
      if (object === undefined) return
      if (admitted.target.resource.isNamespace) await validateNamespace(object, admitted, services)
      else await validatePodOrTemplate(object, admitted, namespaces)
    },
  }
}

async function validatePodOrTemplate(
  object: UnstructuredObject,
  admitted: AdmissionAttributes,
  namespaces: Informer,
): Promise<void> {
  const isPod = admitted.target.resource.plural === 'pods'
  const { labels } = namespaces.get(admitted.target.namespace)?.metadata ?? {}
  if (!hasPodSecurityLabels(labels)) {
    if (isPod) annotate(admitted, 'enforce-policy', formatLevel(privilegedPolicy.enforce))
    return
  }
  if (isPod && admitted.old && !isSignificantUpdate(object, admitted.old)) return
  const pod = isPod ? checkedPod(object) : templateOf(object)
  if (pod !== undefined) await evaluate(pod, labels, { admitted, isPod })
}

async function evaluate(
  pod: CheckedPod,
  labels: Readonly<Record<string, string>>,
  { admitted, isPod }: { readonly admitted: AdmissionAttributes; readonly isPod: boolean },
): Promise<void> {
  const { policy, errors } = readPodSecurityPolicy(labels)
  const { formatDetails, violationsOf } = await import('./pod-security-checks.ts')
  if (errors.length > 0) annotate(admitted, 'error', `Failed to parse policy: ${formatFieldErrors(errors)}`)
  const described = (level: LevelVersion): string | undefined => {
    const violations: readonly Violation[] = violationsOf(pod, level)
    return violations.length === 0
      ? undefined
      : `violate PodSecurity "${formatLevel(level)}": ${formatDetails(violations)}`
  }
  const enforced = isPod ? described(policy.enforce) : undefined
  if (isPod) annotate(admitted, 'enforce-policy', formatLevel(policy.enforce))
  const audited = described(policy.audit)
  if (audited !== undefined) annotate(admitted, 'audit-violations', `would ${audited}`)
  if (enforced !== undefined) {
    const { resource, name } = admitted.target
    throw forbidden({ group: resource.group, kind: resource.plural, name }, enforced.replace('violate', 'violates'))
  }
  const warned = described(policy.warn)
  if (warned !== undefined) admitted.warn(`would ${warned}`)
}

function annotate({ annotate: add }: AdmissionAttributes, key: string, value: string): void {
  add(`${podSecurityPrefix}${key}`, value)
}

function checkedPod({ metadata, ...rest }: Pick<UnstructuredObject, 'metadata'>): CheckedPod {
  return { annotations: metadata.annotations ?? {}, spec: objectIn(rest as JsonObject, 'spec') }
}

/** The pod template of a workload; a ReplicationController may have none. */
function templateOf(object: UnstructuredObject): CheckedPod | undefined {
  const spec = objectIn(object, 'spec')
  const job = objectIn(objectIn(spec, 'jobTemplate'), 'spec')
  const template =
    optionalObjectIn(object, 'template') ?? optionalObjectIn(spec, 'template') ?? optionalObjectIn(job, 'template')
  return (
    template && {
      annotations: textMapIn(objectIn(template, 'metadata'), 'annotations'),
      spec: objectIn(template, 'spec'),
    }
  )
}

/** Of a pod only images can change, and ephemeral containers can be added. */
function isSignificantUpdate(pod: UnstructuredObject, old: UnstructuredObject): boolean {
  const [spec, before] = [objectIn(pod, 'spec'), objectIn(old, 'spec')]
  const images = (owner: JsonObject, list: string): string[] =>
    objectsIn(owner, list).map((container) => textIn(container, 'image'))
  if (['containers', 'initContainers'].some((list) => !deepEqual(images(spec, list), images(before, list)))) return true
  const known = new Map(
    objectsIn(before, 'ephemeralContainers').map((one) => [textIn(one, 'name'), textIn(one, 'image')]),
  )
  return objectsIn(spec, 'ephemeralContainers').some((one) => known.get(textIn(one, 'name')) !== textIn(one, 'image'))
}

// Namespaces.

/** @throws {ApiError} `Invalid` for labels that cannot be read. */
async function validateNamespace(
  namespace: UnstructuredObject,
  admitted: AdmissionAttributes,
  services: PodSecurityServices,
): Promise<void> {
  const { labels } = namespace.metadata
  if (!hasPodSecurityLabels(labels) && !hasPodSecurityLabels(admitted.old?.metadata.labels)) return
  const next = readPodSecurityPolicy(labels)
  const before = admitted.old && readPodSecurityPolicy(admitted.old.metadata.labels)
  if (next.errors.length > 0 && !deepEqual(next.errors, before?.errors))
    throw invalid({ kind: 'Namespace', name: admitted.target.name }, next.errors)
  if (before === undefined) return
  const [wanted, old] = [next.policy.enforce, before.policy.enforce]
  if (sameLevel(wanted, old) || wanted.level === 'privileged') return
  if (wanted.minor === old.minor && compareLevels(wanted.level, old.level) <= 0) return
  for (const warning of await existingViolations(namespace.metadata.name ?? '', wanted, { services, admitted }))
    admitted.warn(warning)
}

/** How many pods are checked, and for how long. */
const podsMax = 3000
const checkMs = 1000

interface ExistingOptions {
  readonly services: PodSecurityServices
  readonly admitted: AdmissionAttributes
}

/** Warnings about the pods that a namespace already has. Pods of one controller are alike: one of them comes first. */
async function existingViolations(
  namespace: string,
  level: LevelVersion,
  { services: { registry, storage, clock }, admitted: { dueMs = Infinity } }: ExistingOptions,
): Promise<string[]> {
  const { formatReasons, violationsOf } = await import('./pod-security-checks.ts')
  const resource = registry.find('', 'v1', 'pods')
  const stored = resource ? await storage.list(resource, { namespace }) : []
  const pods = oneOfEachController(stored.map(({ object }) => object))
  const nowMs = clock.monotonic()
  const untilMs = nowMs + Math.min(checkMs, (dueMs - nowMs) / 2)
  const names = new Map<string, string[]>()
  let checked = 0
  for (const pod of pods.slice(0, podsMax)) {
    const reasons = formatReasons(violationsOf(checkedPod(pod), level))
    if (reasons !== '') names.set(reasons, [...(names.get(reasons) ?? []), pod.metadata.name ?? ''])
    checked++
    if (clock.monotonic() > untilMs) break
  }
  return [
    ...(checked < pods.length
      ? [`new PodSecurity enforce level only checked against the first ${checked} of ${pods.length} existing pods`]
      : []),
    ...(names.size > 0
      ? [`existing pods in namespace "${namespace}" violate the new PodSecurity enforce level "${formatLevel(level)}"`]
      : []),
    ...[...names].map(([reasons, pods]) => `${formatNames(pods)}: ${reasons}`).sort(compareText),
  ]
}

function oneOfEachController(pods: readonly UnstructuredObject[]): UnstructuredObject[] {
  const seen = new Set<string>()
  const [first, others]: [UnstructuredObject[], UnstructuredObject[]] = [[], []]
  for (const pod of pods) {
    const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller)?.uid
    if (owner !== undefined && seen.has(owner)) others.push(pod)
    else first.push(pod)
    if (owner !== undefined) seen.add(owner)
  }
  return [...first, ...others]
}

/** `a`, `a (and 1 other pod)`, `a (and 2 other pods)` */
function formatNames(names: readonly string[]): string {
  const [first = ''] = names.toSorted(compareText)
  if (names.length === 1) return first
  return `${first} (and ${names.length - 1} other ${names.length === 2 ? 'pod' : 'pods'})`
}
