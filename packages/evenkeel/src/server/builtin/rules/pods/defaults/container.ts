/**
 * Defaults of containers of every sort: ports, environment, resources, probes and hooks.
 */
import type { JsonObjectDraft } from '#api'
import { draftIn, draftsIn, ensureDraft, setDefault, setDefaultNumber, setDefaultText } from '../../drafts.ts'
import { canonicalizeQuantities, fillQuantities } from '../../quantities.ts'
import { numberIn, objectIn, optionalObjectIn, textIn } from '../../reading.ts'
import { pullPolicyFor } from './image.ts'
import { defaultFieldReference } from './volume.ts'

/** What holds for containers of pods and of pod templates. */
export function defaultContainer(container: JsonObjectDraft): void {
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

/** In a pod, a limit without a request is the request. Templates leave that to the pod that is made from them. */
export function requestLimits(container: JsonObjectDraft): void {
  const resources = draftIn(container, 'resources')
  if (resources !== undefined && optionalObjectIn(resources, 'limits') !== undefined)
    fillQuantities(resources, 'requests', objectIn(resources, 'limits'))
}

/** On the network of the host, a container's port is the host's port. */
export function useHostPorts(container: JsonObjectDraft): void {
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
