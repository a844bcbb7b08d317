/**
 * The checks of the Pod Security Standards, and which of them hold for a level and a version of the rules.
 *
 * A check has variants: each holds from a minor version of Kubernetes on until the next one. A check of the level
 * `restricted` may replace one of `baseline`, which it includes. Names order the checks and so the text of a refusal.
 * Loaded when the first namespace asks for a level.
 */
import type { JsonObject } from '#api'
import type { LevelVersion } from './pod-security-levels.ts'
import * as baseline from './pod-security-baseline.ts'
import * as restricted from './pod-security-restricted.ts'

/** A violation: its reason, and the details that are shown for a single pod only. */
export interface Violation {
  readonly reason: string
  readonly detail: string
}

/** The parts of a pod, or of a template, that the checks read. */
export interface CheckedPod {
  readonly annotations: Readonly<Record<string, string>>
  readonly spec: JsonObject
}

export type PodCheck = (pod: CheckedPod) => Violation | undefined

interface Check {
  /** From a minor version on. */
  readonly variants: readonly (readonly [since: number, check: PodCheck])[]
  /** The check of `baseline` that this one includes. */
  readonly replaces?: string
}

const baselineChecks: Readonly<Record<string, Check>> = {
  appArmorProfile: { variants: [[0, baseline.appArmorProfile]] },
  capabilities_baseline: { variants: [[0, baseline.capabilities]] },
  hostNamespaces: { variants: [[0, baseline.hostNamespaces]] },
  hostPathVolumes: { variants: [[0, baseline.hostPathVolumes]] },
  hostPorts: { variants: [[0, baseline.hostPorts]] },
  hostProbesAndHostLifecycle: { variants: [[34, baseline.hostProbes]] },
  privileged: { variants: [[0, baseline.privileged]] },
  procMount: {
    variants: [
      [0, baseline.procMount],
      [35, unlessUserNamespace(baseline.procMount)],
    ],
  },
  seLinuxOptions: {
    variants: [
      [0, baseline.seLinuxOptions({ engine: false })],
      [31, baseline.seLinuxOptions({ engine: true })],
    ],
  },
  seccompProfile_baseline: {
    variants: [
      [0, baseline.seccompAnnotations],
      [19, baseline.seccompProfile],
    ],
  },
  sysctls: { variants: ([0, 27, 29, 32] as const).map((since) => [since, baseline.sysctls(since)]) },
  windowsHostProcess: { variants: [[0, baseline.windowsHostProcess]] },
}

const restrictedChecks: Readonly<Record<string, Check>> = {
  allowPrivilegeEscalation: {
    variants: [
      [8, restricted.allowPrivilegeEscalation],
      [25, unlessWindows(restricted.allowPrivilegeEscalation)],
    ],
  },
  capabilities_restricted: {
    replaces: 'capabilities_baseline',
    variants: [
      [22, restricted.capabilities],
      [25, unlessWindows(restricted.capabilities)],
    ],
  },
  procMount_restricted: { replaces: 'procMount', variants: [[35, baseline.procMount]] },
  restrictedVolumes: { replaces: 'hostPathVolumes', variants: [[0, restricted.volumeTypes]] },
  runAsNonRoot: {
    variants: [
      [0, restricted.runAsNonRoot],
      [35, unlessUserNamespace(restricted.runAsNonRoot)],
    ],
  },
  runAsUser: {
    variants: [
      [23, restricted.runAsUser],
      [35, unlessUserNamespace(restricted.runAsUser)],
    ],
  },
  seccompProfile_restricted: {
    replaces: 'seccompProfile_baseline',
    variants: [
      [19, restricted.seccompProfile],
      [25, unlessWindows(restricted.seccompProfile)],
    ],
  },
}

/** The violations of a level, in the order of their names, those of `baseline` first. */
export function violationsOf(pod: CheckedPod, level: LevelVersion): Violation[] {
  return checksOf(level).flatMap((check) => check(pod) ?? [])
}

/** No check has changed since. */
const newestMinor = 35
const selections = new Map<string, readonly PodCheck[]>()

function checksOf({ level, minor: wanted }: LevelVersion): readonly PodCheck[] {
  if (level === 'privileged') return []
  const minor = Math.min(wanted, newestMinor)
  const key = `${level}/${minor}`
  let checks = selections.get(key)
  if (checks === undefined) {
    const strict = level === 'restricted' ? variantsAt(restrictedChecks, minor) : new Map<string, PodCheck>()
    const replaced = new Set([...strict.keys()].map((name) => restrictedChecks[name]?.replaces))
    const wide = [...variantsAt(baselineChecks, minor)].filter(([name]) => !replaced.has(name))
    selections.set(key, (checks = [...wide.map(([, check]) => check), ...strict.values()]))
  }
  return checks
}

function variantsAt(checks: Readonly<Record<string, Check>>, minor: number): Map<string, PodCheck> {
  const found = new Map<string, PodCheck>()
  for (const [name, { variants }] of Object.entries(checks)) {
    const variant = variants.findLast(([since]) => since <= minor)
    if (variant) found.set(name, variant[1])
  }
  return found
}

/** `host ports, privileged` */
export function formatReasons(violations: readonly Violation[]): string {
  return violations.map(({ reason }) => reason).join(', ')
}

/** `hostPort (container "a" uses hostPort 80), privileged (…)` */
export function formatDetails(violations: readonly Violation[]): string {
  return violations.map(({ reason, detail }) => (detail === '' ? reason : `${reason} (${detail})`)).join(', ')
}

/** Validation of pods refuses these fields for Windows, so a Windows pod cannot set them. */
function unlessWindows(check: PodCheck): PodCheck {
  return (pod) => (baseline.isWindows(pod) ? undefined : check(pod))
}

/** Root in a user namespace is not root on the node. */
function unlessUserNamespace(check: PodCheck): PodCheck {
  return (pod) => (pod.spec['hostUsers'] === false ? undefined : check(pod))
}
