/**
 * Defaults of pods and of the pods inside templates.
 */
import type { JsonObjectDraft } from '#api'
import { draftIn, draftsIn, ensureDraft, setDefault, setDefaultText } from '../../drafts.ts'
import { canonicalizeQuantities } from '../../quantities.ts'
import { isSet, textIn } from '../../reading.ts'
import { defaultContainer, requestLimits, useHostPorts } from './container.ts'
import { defaultVolume } from './volume.ts'

const graceSeconds = 30

/** Defaults that a pod has and a template has not. */
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

/** Defaults of the template in a spec; a missing template is an empty one. */
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

/** The account has an old name and a new one; the new one wins, and both are always there. */
function mirrorAccount(spec: JsonObjectDraft): void {
  const account = textIn(spec, 'serviceAccountName') || textIn(spec, 'serviceAccount')
  if (account === '') return
  spec['serviceAccountName'] = account
  spec['serviceAccount'] = account
}
