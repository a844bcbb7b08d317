/**
 * The checks of the Pod Security level `baseline`: known ways to more privileges on a node. Reasons and details are those
 * of kube-apiserver.
 */
import {
  compareText,
  isSet,
  numberIn,
  objectIn,
  objectsIn,
  optionalObjectIn,
  textIn,
  textsIn,
  type JsonObject,
} from '#api'
import type { CheckedPod, PodCheck } from './pod-security-checks.ts'

export function containersOf({ spec }: CheckedPod): readonly JsonObject[] {
  return ['initContainers', 'containers', 'ephemeralContainers'].flatMap((list) => objectsIn(spec, list))
}

export function isWindows({ spec }: CheckedPod): boolean {
  return textIn(objectIn(spec, 'os'), 'name') === 'windows'
}

/** The security context of a pod or of a container. */
export function contextOf(owner: JsonObject): JsonObject {
  return objectIn(owner, 'securityContext')
}

export function quoted(texts: readonly string[]): string {
  return texts.map((text) => `"${text}"`).join(', ')
}

export function sorted(texts: Iterable<string>): string[] {
  return [...new Set(texts)].sort(compareText)
}

export function plural(count: number, singular: string, several = `${singular}s`): string {
  return count === 1 ? singular : several
}

/** `containers "a", "b"` */
export function named(containers: readonly JsonObject[]): string {
  return `${plural(containers.length, 'container')} ${quoted(containers.map((one) => textIn(one, 'name')))}`
}

/** `pod and container "a"`: those whose security context is bad. */
export function badSetters(pod: CheckedPod, isBad: (context: JsonObject) => boolean): string[] {
  const containers = containersOf(pod).filter((one) => isBad(contextOf(one)))
  return [...(isBad(contextOf(pod.spec)) ? ['pod'] : []), ...(containers.length > 0 ? [named(containers)] : [])]
}

const appArmorPrefix = 'container.apparmor.security.beta.kubernetes.io/'

export const appArmorProfile: PodCheck = (pod) => {
  const profile = (context: JsonObject): string | undefined => {
    const found = optionalObjectIn(context, 'appArmorProfile')
    const type = textIn(found, 'type')
    return found && type !== 'RuntimeDefault' && type !== 'Localhost' ? type : undefined
  }
  const setters = badSetters(pod, (context) => profile(context) !== undefined)
  const types = sorted([pod.spec, ...containersOf(pod)].flatMap((owner) => profile(contextOf(owner)) ?? []))
  const annotations = Object.entries(pod.annotations)
    .filter(([key, value]) => key.startsWith(appArmorPrefix) && !isAllowedAppArmor(value))
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .sort(compareText)
  if (annotations.length > 0) setters.push(plural(annotations.length, 'annotation'))
  if (setters.length === 0) return undefined
  const values = [...types, ...annotations]
  return {
    reason: plural(values.length, 'forbidden AppArmor profile'),
    detail: `${setters.join(' and ')} must not set AppArmor profile type to ${quoted(values)}`,
  }
}

function isAllowedAppArmor(value: string): boolean {
  return value === '' || value === 'runtime/default' || value.startsWith('localhost/')
}

const defaultCapabilities: ReadonlySet<string> = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
])

export const capabilities: PodCheck = (pod) => {
  const forbidden = (container: JsonObject): string[] =>
    textsIn(objectIn(contextOf(container), 'capabilities'), 'add').filter((name) => !defaultCapabilities.has(name))
  const bad = containersOf(pod).filter((one) => forbidden(one).length > 0)
  return bad.length === 0
    ? undefined
    : {
        reason: 'non-default capabilities',
        detail: `${named(bad)} must not include ${quoted(sorted(bad.flatMap(forbidden)))} in securityContext.capabilities.add`,
      }
}

export const hostNamespaces: PodCheck = ({ spec }) => {
  const shared = ['hostNetwork', 'hostPID', 'hostIPC'].filter((key) => isSet(spec, key))
  return shared.length === 0
    ? undefined
    : { reason: 'host namespaces', detail: shared.map((key) => `${key}=true`).join(', ') }
}

export const hostPathVolumes: PodCheck = ({ spec }) => {
  const bad = objectsIn(spec, 'volumes').filter((volume) => optionalObjectIn(volume, 'hostPath') !== undefined)
  if (bad.length === 0) return undefined
  const names = quoted(bad.map((volume) => textIn(volume, 'name')))
  return { reason: 'hostPath volumes', detail: `${plural(bad.length, 'volume')} ${names}` }
}

export const hostPorts: PodCheck = (pod) => {
  const portsOf = (container: JsonObject): string[] =>
    objectsIn(container, 'ports')
      .map((port) => numberIn(port, 'hostPort') ?? 0)
      .filter((port) => port !== 0)
      .map(String)
  const bad = containersOf(pod).filter((one) => portsOf(one).length > 0)
  if (bad.length === 0) return undefined
  const ports = sorted(bad.flatMap(portsOf))
  const verb = plural(bad.length, 'uses', 'use')
  return { reason: 'hostPort', detail: `${named(bad)} ${verb} ${plural(ports.length, 'hostPort')} ${ports.join(', ')}` }
}

export const hostProbes: PodCheck = (pod) => {
  const hostsOf = (container: JsonObject): string[] => {
    const lifecycle = objectIn(container, 'lifecycle')
    return [
      ...['livenessProbe', 'readinessProbe', 'startupProbe'].map((key) => objectIn(container, key)),
      ...['postStart', 'preStop'].map((key) => objectIn(lifecycle, key)),
    ]
      .flatMap((handler) => ['httpGet', 'tcpSocket'].map((key) => textIn(objectIn(handler, key), 'host')))
      .filter((host) => host !== '')
  }
  const bad = containersOf(pod).filter((one) => hostsOf(one).length > 0)
  if (bad.length === 0) return undefined
  const [names, hosts] = [sorted(bad.map((one) => textIn(one, 'name'))), sorted(bad.flatMap(hostsOf))]
  const who = `${plural(names.length, 'container')} ${quoted(names)} ${plural(names.length, 'uses', 'use')}`
  const reason = 'probe or lifecycle host'
  return { reason, detail: `${who} ${plural(hosts.length, reason)} ${quoted(hosts)}` }
}

export const privileged: PodCheck = (pod) => {
  const bad = containersOf(pod).filter((one) => isSet(contextOf(one), 'privileged'))
  return bad.length === 0
    ? undefined
    : { reason: 'privileged', detail: `${named(bad)} must not set securityContext.privileged=true` }
}

export const procMount: PodCheck = (pod) => {
  const mountOf = (container: JsonObject): string => textIn(contextOf(container), 'procMount')
  const bad = containersOf(pod).filter((one) => !['', 'Default'].includes(mountOf(one)))
  return bad.length === 0
    ? undefined
    : {
        reason: 'procMount',
        detail: `${named(bad)} must not set securityContext.procMount to ${quoted(sorted(bad.map(mountOf)))}`,
      }
}

const seLinuxTypes = ['', 'container_t', 'container_init_t', 'container_kvm_t']

/** @param options `engine`: whether containers may be container engines, as since 1.31 */
export function seLinuxOptions({ engine }: { readonly engine: boolean }): PodCheck {
  const allowed = new Set(engine ? [...seLinuxTypes, 'container_engine_t'] : seLinuxTypes)
  const optionsOf = (context: JsonObject): JsonObject => objectIn(context, 'seLinuxOptions')
  return (pod) => {
    const setters = badSetters(pod, (context) => {
      const options = optionsOf(context)
      return !allowed.has(textIn(options, 'type')) || ['user', 'role'].some((key) => textIn(options, key) !== '')
    })
    if (setters.length === 0) return undefined
    const all = [pod.spec, ...containersOf(pod)].map((owner) => optionsOf(contextOf(owner)))
    const types = sorted(all.map((options) => textIn(options, 'type')).filter((type) => !allowed.has(type)))
    const faults = [
      ...(types.length > 0 ? [`${plural(types.length, 'type')} ${quoted(types)}`] : []),
      ...['user', 'role']
        .filter((key) => all.some((options) => textIn(options, key) !== ''))
        .map((key) => `${key} may not be set`),
    ]
    return {
      reason: 'seLinuxOptions',
      detail: `${setters.join(' and ')} set forbidden securityContext.seLinuxOptions: ${faults.join('; ')}`,
    }
  }
}

const seccompAnnotation = 'seccomp.security.alpha.kubernetes.io/pod'
const seccompContainerPrefix = 'container.seccomp.security.alpha.kubernetes.io/'

/** Before 1.19 seccomp profiles were annotations. */
export const seccompAnnotations: PodCheck = (pod) => {
  const keys = [seccompAnnotation, ...containersOf(pod).map((one) => seccompContainerPrefix + textIn(one, 'name'))]
  const bad = sorted(
    keys.flatMap((key) => {
      const value = Object.hasOwn(pod.annotations, key) ? pod.annotations[key] : undefined
      return value === undefined || isAllowedSeccomp(value) ? [] : [`${key}=${JSON.stringify(value)}`]
    }),
  )
  return bad.length === 0
    ? undefined
    : { reason: 'seccompProfile', detail: `forbidden ${plural(bad.length, 'annotation')} ${bad.join(', ')}` }
}

function isAllowedSeccomp(value: string): boolean {
  return ['runtime/default', 'docker/default'].includes(value) || value.startsWith('localhost/')
}

/** The type of a seccomp profile; undefined without one. */
export function seccompType(context: JsonObject): string | undefined {
  const profile = optionalObjectIn(context, 'seccompProfile')
  return profile && textIn(profile, 'type')
}

export function isForbiddenSeccomp(type: string | undefined): type is string {
  return type !== undefined && type !== 'Localhost' && type !== 'RuntimeDefault'
}

export const seccompProfile: PodCheck = (pod) => {
  const setters = badSetters(pod, (context) => isForbiddenSeccomp(seccompType(context)))
  if (setters.length === 0) return undefined
  const types = [pod.spec, ...containersOf(pod)].map((owner) => seccompType(contextOf(owner)))
  const bad = quoted(sorted(types.filter(isForbiddenSeccomp)))
  return {
    reason: 'seccompProfile',
    detail: `${setters.join(' and ')} must not set securityContext.seccompProfile.type to ${bad}`,
  }
}

/** The sysctls that each version added to the safe ones. */
const safeSysctls: readonly (readonly [since: number, names: readonly string[]])[] = [
  [
    0,
    [
      'kernel.shm_rmid_forced',
      'net.ipv4.ip_local_port_range',
      'net.ipv4.tcp_syncookies',
      'net.ipv4.ping_group_range',
      'net.ipv4.ip_unprivileged_port_start',
    ],
  ],
  [27, ['net.ipv4.ip_local_reserved_ports']],
  [
    29,
    [
      'net.ipv4.tcp_keepalive_time',
      'net.ipv4.tcp_fin_timeout',
      'net.ipv4.tcp_keepalive_intvl',
      'net.ipv4.tcp_keepalive_probes',
    ],
  ],
  [32, ['net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem']],
]

export function sysctls(minor: number): PodCheck {
  const safe = new Set(safeSysctls.flatMap(([since, names]) => (since <= minor ? names : [])))
  return ({ spec }) => {
    const bad = objectsIn(contextOf(spec), 'sysctls')
      .map((sysctl) => textIn(sysctl, 'name'))
      .filter((name) => !safe.has(name))
    return bad.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: bad.join(', ') }
  }
}

export const windowsHostProcess: PodCheck = (pod) => {
  const setters = badSetters(pod, (context) => isSet(objectIn(context, 'windowsOptions'), 'hostProcess'))
  return setters.length === 0
    ? undefined
    : {
        reason: 'hostProcess',
        detail: `${setters.join(' and ')} must not set securityContext.windowsOptions.hostProcess=true`,
      }
}
