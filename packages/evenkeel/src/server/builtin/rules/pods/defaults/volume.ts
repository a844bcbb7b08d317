/**
 * Defaults of volumes: an empty directory when nothing is said, file modes, and what old volume types assume.
 */
import type { JsonObjectDraft, JsonValue } from '#api'
import { draftIn, draftsIn, ensureDraft, setDefault, setDefaultText } from '../../drafts.ts'
import { canonicalizeQuantity, canonicalizeQuantities } from '../../quantities.ts'
import { textIn } from '../../reading.ts'
import { pullPolicyFor } from './image.ts'

/** 0644 */
const fileMode = 420
const tokenSeconds = 3600

/** Fields that are filled when they are absent, by volume type. */
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

export function defaultVolume(volume: JsonObjectDraft): void {
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

/** A reference to a field of the pod says which version of a pod it means. */
export function defaultFieldReference(parent: JsonObjectDraft): void {
  const reference = draftIn(parent, 'fieldRef')
  if (reference !== undefined) setDefaultText(reference, 'apiVersion', 'v1')
  const resource = draftIn(parent, 'resourceFieldRef')
  if (resource !== undefined) setDefaultText(resource, 'divisor', '0')
}

/** Defaults of the spec of a claim, wherever it stands. */
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
