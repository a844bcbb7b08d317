/**
 * The IP families of a Service and its policy: what the client left out follows from its cluster IPs and from the ranges of
 * the cluster.
 *
 * A headless Service without a selector may have both families in any cluster, because its endpoints are managed
 * elsewhere. `PreferDualStack` is not upgraded later: only a change of the policy or of the addresses adds an address.
 */
import {
  deepEqual,
  fieldError,
  FieldPath,
  objectIn,
  textIn,
  textsIn,
  type FieldError,
  type JsonObject,
  type JsonObjectDraft,
} from 'evenkeel/unstable/builtins'
import { familyOf } from '../ip-addresses.ts'
import type { AddressRange, Family } from './address-range.ts'

const specPath = FieldPath.of('spec')
const policyPath = specPath.child('ipFamilyPolicy')

interface FamilyOptions {
  /** The spec of the stored Service. */
  readonly before: JsonObject | undefined
  /** The first range has the default family. */
  readonly ranges: readonly AddressRange[]
}

/** Sets `ipFamilyPolicy` and `ipFamilies`. @returns why the Service is refused */
export function setFamilies(spec: JsonObjectDraft, { before, ranges }: FamilyOptions): FieldError[] {
  if (before && isUnchangedPreference(spec, before)) return []
  const isOpen = textIn(spec, 'clusterIP') === 'None' && Object.keys(objectIn(spec, 'selector')).length === 0
  spec['ipFamilyPolicy'] ??= before?.['ipFamilyPolicy'] ?? (isOpen ? 'RequireDualStack' : 'SingleStack')
  const configured = [...new Set(ranges.map(({ family }) => family))]
  const reduced = before ? reduceFamilies(spec, before) : []
  const errors = [...reduced, ...checkPolicy(spec), ...inferFamilies(spec, configured)]
  if (errors.length > 0) return errors
  const isSingle = spec['ipFamilyPolicy'] === 'SingleStack'
  const [first = 'IPv4'] = configured
  if (isOpen) {
    spec['ipFamilies'] = withOther(textsIn(spec, 'ipFamilies'), { first, adds: !isSingle })
    return []
  }
  const unavailable = checkConfigured(spec, configured)
  if (unavailable.length > 0) return unavailable
  spec['ipFamilies'] = withOther(textsIn(spec, 'ipFamilies'), { first, adds: !isSingle && configured.length === 2 })
  return []
}

function isUnchangedPreference(spec: JsonObject, before: JsonObject): boolean {
  return (
    [spec, before].every((one) => one['ipFamilyPolicy'] === 'PreferDualStack') &&
    ['type', 'clusterIPs', 'ipFamilies'].every((key) => deepEqual(spec[key], before[key]))
  )
}

/** The policy SingleStack drops the second family and its address; without it they may not be dropped. */
function reduceFamilies(spec: JsonObjectDraft, before: JsonObject): FieldError[] {
  const isSingle = spec['ipFamilyPolicy'] === 'SingleStack'
  return Object.entries({ clusterIPs: 'secondary cluster IP', ipFamilies: 'secondary IP family' }).flatMap(
    ([key, word]) => {
      const [now, then] = [textsIn(spec, key), textsIn(before, key)]
      if (isSingle) {
        if (deepEqual(now, then) && now.length > 1) spec[key] = now.slice(0, 1)
        return []
      }
      if (now.length === 0 || now.length >= then.length || now[0] !== then[0]) return []
      return [fieldError.invalid(policyPath, spec['ipFamilyPolicy'], `must be 'SingleStack' to release the ${word}`)]
    },
  )
}

function checkPolicy(spec: JsonObject): FieldError[] {
  if (spec['ipFamilyPolicy'] !== 'SingleStack') return []
  const advice = "must be 'RequireDualStack' or 'PreferDualStack' when multiple"
  return Object.entries({ clusterIPs: 'cluster IPs', ipFamilies: 'IP families' })
    .filter(([key]) => textsIn(spec, key).length === 2)
    .map(([, word]) => fieldError.invalid(policyPath, spec['ipFamilyPolicy'], `${advice} ${word} are specified`))
}

/** Adds the families of addresses that have none. */
function inferFamilies(spec: JsonObjectDraft, configured: readonly Family[]): FieldError[] {
  const [addresses, families] = [textsIn(spec, 'clusterIPs'), [...textsIn(spec, 'ipFamilies')]]
  const errors: FieldError[] = []
  for (const [index, address] of addresses.entries()) {
    const family = familyOf(address)
    if (family === undefined || index < families.length) continue
    if (configured.includes(family)) families.push(family)
    else
      errors.push(
        fieldError.invalid(
          specPath.child('clusterIPs').index(index),
          addresses,
          `${family} is not configured on this cluster`,
        ),
      )
  }
  if (families.length > 0) spec['ipFamilies'] = families
  return errors
}

function checkConfigured(spec: JsonObject, configured: readonly Family[]): FieldError[] {
  const dual =
    spec['ipFamilyPolicy'] === 'RequireDualStack' && configured.length < 2
      ? [
          fieldError.invalid(
            policyPath,
            spec['ipFamilyPolicy'],
            'this cluster is not configured for dual-stack services',
          ),
        ]
      : []
  const known: readonly string[] = configured
  const unknown = textsIn(spec, 'ipFamilies').flatMap((family, index) =>
    known.includes(family)
      ? []
      : [fieldError.invalid(specPath.child('ipFamilies').index(index), family, 'not configured on this cluster')],
  )
  return [...dual, ...unknown]
}

function withOther(
  families: readonly string[],
  { first, adds }: { readonly first: Family; readonly adds: boolean },
): string[] {
  const own = families.length === 0 ? [first] : [...families]
  return adds && own.length === 1 ? [...own, own[0] === 'IPv4' ? 'IPv6' : 'IPv4'] : own
}
