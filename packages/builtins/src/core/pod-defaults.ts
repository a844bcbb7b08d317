/**
 * Defaults of Pods and Pod templates.
 */
import {
  isSet,
  numberIn,
  objectIn,
  optionalObjectIn,
  textIn,
  type JsonObjectDraft,
  type JsonValue,
} from 'evenkeel/unstable/builtins'
import { draftIn, draftsIn, ensureDraft, setDefault, setDefaultNumber, setDefaultText } from '../defaulting.ts'
import { canonicalizeQuantities, canonicalizeQuantity, fillQuantities } from '../resource-quantities.ts'

const graceSeconds = 30

/** Defaults of a Pod that a template does not have. */
export function defaultPod(spec: JsonObjectDraft): void {
  defaultPodSpec(spec)
  setDefault(spec, 'enableServiceLinks', true)
  for (const key of ['containers', 'initContainers']) {
    for (const container of draftsIn(spec, key)) {
      requestLimits(container)
      if (isSet(spec, 'hostNetwork')) useHostPorts(container)
    }
  }
}

/** Defaults of the template in a spec; a missing template counts as empty. */
export function defaultTemplate(spec: JsonObjectDraft): void {
  const template = ensureDraft(spec, 'template')
  ensureDraft(template, 'metadata')
  defaultPodSpec(ensureDraft(template, 'spec'))
}

function defaultPodSpec(spec: JsonObjectDraft): void {
  draftsIn(spec, 'volumes').forEach(defaultVolume)
  for (const key of ['initContainers', 'containers', 'ephemeralContainers'])
    draftsIn(spec, key).forEach(defaultContainer)
  setDefaultText(spec, 'restartPolicy', 'Always')
  setDefault(spec, 'terminationGracePeriodSeconds', graceSeconds)
  setDefaultText(spec, 'dnsPolicy', 'ClusterFirst')
  setDefault(spec, 'securityContext', {})
  setDefaultText(spec, 'schedulerName', 'default-scheduler')
  canonicalizeQuantities(spec, 'overhead')
  const resources = draftIn(spec, 'resources')
  for (const part of ['limits', 'requests']) if (resources !== undefined) canonicalizeQuantities(resources, part)
  mirrorAccount(spec)
}

/** `serviceAccountName` wins over the deprecated `serviceAccount`; both are always set. */
function mirrorAccount(spec: JsonObjectDraft): void {
  const account = textIn(spec, 'serviceAccountName') || textIn(spec, 'serviceAccount')
  if (account === '') return
  spec['serviceAccountName'] = account
  spec['serviceAccount'] = account
}

// Defaults of all kinds of containers: ports, environment, resources, probes and hooks.

/** Defaults of containers in Pods and Pod templates. */
function defaultContainer(container: JsonObjectDraft): void {
  setDefaultText(container, 'imagePullPolicy', pullPolicyFor(textIn(container, 'image')))
  setDefaultText(container, 'terminationMessagePath', '/dev/termination-log')
  setDefaultText(container, 'terminationMessagePolicy', 'File')
  for (const port of draftsIn(container, 'ports')) setDefaultText(port, 'protocol', 'TCP')
  for (const variable of draftsIn(container, 'env')) defaultVariable(variable)
  const resources = ensureDraft(container, 'resources')
  for (const part of ['limits', 'requests']) canonicalizeQuantities(resources, part)
  for (const key of ['livenessProbe', 'readinessProbe', 'startupProbe']) defaultProbe(draftIn(container, key))
  const lifecycle = draftIn(container, 'lifecycle')
  for (const key of ['postStart', 'preStop']) defaultHttp(lifecycle && draftIn(lifecycle, key))
  const security = draftIn(container, 'securityContext')
  if (security !== undefined && security['procMount'] === '') security['procMount'] = 'Default'
}

/** In a Pod, a limit without a request sets the request. A template leaves that to its Pods. */
function requestLimits(container: JsonObjectDraft): void {
  const resources = draftIn(container, 'resources')
  if (resources !== undefined && optionalObjectIn(resources, 'limits') !== undefined)
    fillQuantities(resources, 'requests', objectIn(resources, 'limits'))
}

/** With hostNetwork, the container port is the host port. */
function useHostPorts(container: JsonObjectDraft): void {
  for (const port of draftsIn(container, 'ports'))
    setDefaultNumber(port, 'hostPort', numberIn(port, 'containerPort') ?? 0)
}

function defaultVariable(variable: JsonObjectDraft): void {
  const source = draftIn(variable, 'valueFrom')
  if (source === undefined) return
  defaultFieldReference(source)
  const file = draftIn(source, 'fileKeyRef')
  if (file !== undefined) setDefault(file, 'optional', false)
}

function defaultProbe(probe: JsonObjectDraft | undefined): void {
  if (probe === undefined) return
  setDefaultNumber(probe, 'timeoutSeconds', 1)
  setDefaultNumber(probe, 'periodSeconds', 10)
  setDefaultNumber(probe, 'successThreshold', 1)
  setDefaultNumber(probe, 'failureThreshold', 3)
  defaultHttp(probe)
  const grpc = draftIn(probe, 'grpc')
  if (grpc !== undefined) setDefault(grpc, 'service', '')
}

function defaultHttp(handler: JsonObjectDraft | undefined): void {
  const http = handler && draftIn(handler, 'httpGet')
  if (http === undefined) return
  setDefaultText(http, 'path', '/')
  setDefaultText(http, 'scheme', 'HTTP')
}

// Defaults of volumes: emptyDir without a source, file modes, and the defaults of old volume types.

/** 0644 */
const fileMode = 420
const tokenSeconds = 3600

/** The default fields of each volume type. */
const assumed: Readonly<Record<string, Readonly<Record<string, JsonValue>>>> = {
  azureDisk: { cachingMode: 'ReadWrite', kind: 'Shared', fsType: 'ext4', readOnly: false },
  configMap: { defaultMode: fileMode },
  downwardAPI: { defaultMode: fileMode },
  hostPath: { type: '' },
  iscsi: { iscsiInterface: 'default' },
  projected: { defaultMode: fileMode },
  rbd: { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' },
  scaleIO: { storageMode: 'ThinProvisioned', fsType: 'xfs' },
  secret: { defaultMode: fileMode },
}

function defaultVolume(volume: JsonObjectDraft): void {
  if (Object.keys(volume).every((key) => key === 'name' || volume[key] === undefined)) volume['emptyDir'] = {}
  for (const [type, fields] of Object.entries(assumed)) {
    const source = draftIn(volume, type)
    if (source !== undefined) for (const [key, value] of Object.entries(fields)) setDefault(source, key, value)
  }
  const image = draftIn(volume, 'image')
  if (image !== undefined) setDefaultText(image, 'pullPolicy', pullPolicyFor(textIn(image, 'reference')))
  const directory = draftIn(volume, 'emptyDir')
  if (directory !== undefined) canonicalizeQuantity(directory, 'sizeLimit')
  defaultFieldReferences(draftIn(volume, 'downwardAPI'))
  defaultProjection(draftIn(volume, 'projected'))
  defaultClaimTemplate(draftIn(volume, 'ephemeral'))
}

/** The default apiVersion of a field reference. */
function defaultFieldReference(parent: JsonObjectDraft): void {
  const reference = draftIn(parent, 'fieldRef')
  if (reference !== undefined) setDefaultText(reference, 'apiVersion', 'v1')
  const resource = draftIn(parent, 'resourceFieldRef')
  if (resource !== undefined) setDefaultText(resource, 'divisor', '0')
}

/** Defaults of the spec of a claim or a claim template. */
export function defaultClaimSpec(spec: JsonObjectDraft): void {
  setDefault(spec, 'volumeMode', 'Filesystem')
  const resources = ensureDraft(spec, 'resources')
  for (const part of ['limits', 'requests']) canonicalizeQuantities(resources, part)
}

function defaultFieldReferences(source: JsonObjectDraft | undefined): void {
  if (source !== undefined) draftsIn(source, 'items').forEach(defaultFieldReference)
}

function defaultProjection(projected: JsonObjectDraft | undefined): void {
  if (projected === undefined) return
  for (const source of draftsIn(projected, 'sources')) {
    defaultFieldReferences(draftIn(source, 'downwardAPI'))
    const token = draftIn(source, 'serviceAccountToken')
    if (token !== undefined) setDefault(token, 'expirationSeconds', tokenSeconds)
  }
}

function defaultClaimTemplate(ephemeral: JsonObjectDraft | undefined): void {
  const template = ephemeral && draftIn(ephemeral, 'volumeClaimTemplate')
  if (template === undefined) return
  ensureDraft(template, 'metadata')
  defaultClaimSpec(ensureDraft(template, 'spec'))
}

// The default image pull policy: Always for the tag `latest`, explicit or implied, otherwise IfNotPresent.
//
//     nginx            latest      nginx:1.27              1.27
//     host:5000/nginx  latest      nginx@sha256:...        none

const component = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*'
const domain =
  '(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?'
const path = new RegExp(`^${component}(?:/${component})*$`)
const host = new RegExp(`^${domain}$`)
const tagPattern = /^\w[\w.-]{0,127}$/
const digestPattern = /^[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}$/
const imageLengthMax = 4096

export function pullPolicyFor(image: string): 'Always' | 'IfNotPresent' {
  return isLatest(image) ? 'Always' : 'IfNotPresent'
}

/** The tag of an image reference; an invalid reference has none. */
function isLatest(image: string): boolean {
  if (image.length > imageLengthMax) return false
  const at = image.indexOf('@')
  const digest = at < 0 ? undefined : image.slice(at + 1)
  const rest = at < 0 ? image : image.slice(0, at)
  const colon = rest.lastIndexOf(':')
  const hasTag = colon > rest.lastIndexOf('/')
  const [name, tag] = hasTag ? [rest.slice(0, colon), rest.slice(colon + 1)] : [rest, undefined]
  if (
    !isName(name) ||
    (tag !== undefined && !tagPattern.test(tag)) ||
    (digest !== undefined && !digestPattern.test(digest))
  )
    return false
  return tag === undefined ? digest === undefined : tag === 'latest'
}

function isName(name: string): boolean {
  if (/^[a-f0-9]{64}$/.test(name)) return false
  const slash = name.indexOf('/')
  const first = name.slice(0, Math.max(slash, 0))
  // The first part is a host only if it has a dot, a colon or an upper-case letter, or is localhost.
  const isHost = /[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase()
  return isHost ? host.test(first) && path.test(name.slice(slash + 1)) : path.test(name)
}
