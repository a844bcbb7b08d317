/**
 * The Pod Security level and version of a namespace, from its labels.
 *
 *   pod-security.kubernetes.io/enforce: baseline            violations are refused
 *   pod-security.kubernetes.io/enforce-version: v1.30       the rules of that release; `latest` if absent
 *   pod-security.kubernetes.io/audit, /warn, -version       violations are recorded, or told to the client
 *
 * Without labels everything is `privileged:latest`. A level to enforce that is stricter than the one to warn about is
 * warned about as well. Labels that cannot be read count as `restricted` to enforce and `privileged` to audit and warn.
 */
import { fieldError, FieldPath, type FieldError } from '#api'

type PodSecurityLevel = 'privileged' | 'baseline' | 'restricted'

export interface LevelVersion {
  readonly level: PodSecurityLevel
  /** The minor version of the rules; Infinity for the latest. */
  readonly minor: number
}

interface PodSecurityPolicy {
  readonly enforce: LevelVersion
  readonly audit: LevelVersion
  readonly warn: LevelVersion
}

export const podSecurityPrefix = 'pod-security.kubernetes.io/'
const levels: readonly PodSecurityLevel[] = ['privileged', 'baseline', 'restricted']
const privileged: LevelVersion = { level: 'privileged', minor: Infinity }
export const privilegedPolicy: PodSecurityPolicy = { enforce: privileged, audit: privileged, warn: privileged }
const labelsPath = FieldPath.of('metadata', 'labels')

type Labels = Readonly<Record<string, string>>

/** Whether any label is about Pod Security. Most namespaces have none. */
export function hasPodSecurityLabels(labels: Labels | undefined): labels is Labels {
  return labels !== undefined && Object.keys(labels).some((key) => key.startsWith(podSecurityPrefix))
}

interface ReadPolicy {
  readonly policy: PodSecurityPolicy
  readonly errors: readonly FieldError[]
}

export function readPodSecurityPolicy(labels: Labels | undefined): ReadPolicy {
  if (!hasPodSecurityLabels(labels)) return { policy: privilegedPolicy, errors: [] }
  const errors: FieldError[] = []
  const enforce = readMode('enforce', labels, { errors, fallback: 'restricted' })
  const audit = readMode('audit', labels, { errors, fallback: 'privileged' })
  const warn = readMode('warn', labels, { errors, fallback: 'privileged' })
  const isDefaulted =
    isLevel(labels[`${podSecurityPrefix}enforce`]) &&
    labels[`${podSecurityPrefix}warn`] === undefined &&
    compareLevels(enforce.level, warn.level) > 0
  if (!isDefaulted) return { policy: { enforce, audit, warn }, errors }
  const hasVersion = labels[`${podSecurityPrefix}warn-version`] !== undefined
  return { policy: { enforce, audit, warn: { ...(hasVersion ? warn : enforce), level: enforce.level } }, errors }
}

function readMode(
  mode: string,
  labels: Labels,
  { errors, fallback }: { readonly errors: FieldError[]; readonly fallback: PodSecurityLevel },
): LevelVersion {
  const key = `${podSecurityPrefix}${mode}`
  const [level, version] = [labels[key], labels[`${key}-version`]]
  if (level !== undefined && !isLevel(level))
    errors.push(fieldError.invalid(labelsPath.key(key), level, `must be one of ${levels.join(', ')}`))
  const minor = minorOf(version)
  if (minor === undefined)
    errors.push(fieldError.invalid(labelsPath.key(`${key}-version`), version, 'must be "latest" or "v1.x"'))
  return {
    level: level === undefined ? 'privileged' : isLevel(level) ? level : fallback,
    minor: minor ?? Infinity,
  }
}

function isLevel(level: string | undefined): level is PodSecurityLevel {
  return levels.some((one) => one === level)
}

/** Undefined for a version that cannot be read. */
function minorOf(version = 'latest'): number | undefined {
  if (version === 'latest') return Infinity
  const [, minor] = /^v1\.(\d|[1-9]\d*)$/.exec(version) ?? []
  return minor === undefined || Number(minor) > Number.MAX_SAFE_INTEGER ? undefined : Number(minor)
}

/** `restricted:latest`, `baseline:v1.30` */
export function formatLevel({ level, minor }: LevelVersion): string {
  return `${level}:${minor === Infinity ? 'latest' : `v1.${minor}`}`
}

/** Above 0 when the first level is stricter. */
export function compareLevels(one: PodSecurityLevel, other: PodSecurityLevel): number {
  return levels.indexOf(one) - levels.indexOf(other)
}

export function sameLevel(one: LevelVersion, other: LevelVersion): boolean {
  return one.level === other.level && one.minor === other.minor
}
