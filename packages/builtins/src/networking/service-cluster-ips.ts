/**
 * Validation of the cluster IPs of a Service: at most one of each family, consistent with `clusterIP` and `ipFamilies`,
 * immutable.
 */
import {
  errorsOfEach,
  fieldError,
  FieldPath,
  textIn,
  textsIn,
  type FieldError,
  type JsonObject,
} from 'evenkeel/unstable/builtins'
import { familyOf, validateAddress } from '../ip-addresses.ts'
import { allowOneOf, requireOneOf, repeatedAt } from '../validation.ts'

const specPath = FieldPath.of('spec')
const addressesPath = specPath.child('clusterIPs')
const familiesPath = specPath.child('ipFamilies')
const families = ['IPv4', 'IPv6']

export function validateClusterIPs(spec: JsonObject): FieldError[] {
  if (textIn(spec, 'type') === 'ExternalName') return []
  const addresses = textsIn(spec, 'clusterIPs')
  const errors = [
    ...validateInStep(textIn(spec, 'clusterIP'), addresses),
    ...validateFamilies(textsIn(spec, 'ipFamilies')),
    ...allowOneOf(spec['ipFamilyPolicy'], specPath.child('ipFamilyPolicy'), [
      'PreferDualStack',
      'RequireDualStack',
      'SingleStack',
    ]),
  ]
  const wrong = validateEach(addresses)
  if (addresses.length > 2) wrong.push(fieldError.invalid(addressesPath, addresses, 'may only hold up to 2 values'))
  return [...errors, ...wrong, ...(wrong.length > 0 ? [] : validateTogether(addresses, textsIn(spec, 'ipFamilies')))]
}

/** A cluster IP may be added or released, but not replaced. */
export function validateClusterIPsImmutable(spec: JsonObject, old: JsonObject): FieldError[] {
  if (textIn(spec, 'type') === 'ExternalName' || textIn(old, 'type') === 'ExternalName') return []
  const [now, before] = [textsIn(spec, 'clusterIPs'), textsIn(old, 'clusterIPs')]
  if (now[0] === 'None' && before[0] === 'None') return []
  if (before.length > now.length && now.length === 0) {
    return [fieldError.invalid(addressesPath.index(0), now, 'primary clusterIP can not be unset')]
  }
  const compared = now.length === before.length ? before.length : Math.min(1, before.length)
  const errors = errorsOfEach(before.slice(0, compared), (address, index) =>
    address === now[index] ? [] : [fieldError.invalid(addressesPath.index(index), now, 'may not change once set')],
  )
  if (before.length > now.length && spec['ipFamilyPolicy'] !== 'SingleStack') {
    const detail = "must be set to 'SingleStack' when releasing the secondary clusterIP"
    errors.push(fieldError.invalid(specPath.child('ipFamilyPolicy'), spec['ipFamilyPolicy'], detail))
  }
  return errors
}

function validateInStep(address: string, addresses: readonly string[]): FieldError[] {
  if (address === '') {
    return addresses.length === 0
      ? []
      : [fieldError.invalid(addressesPath, addresses, 'must be empty when `clusterIP` is not specified')]
  }
  if (addresses.length === 0) return [fieldError.required(addressesPath)]
  return addresses[0] === address
    ? []
    : [fieldError.invalid(addressesPath, addresses, 'first value must match `clusterIP`')]
}

function validateFamilies(list: readonly string[]): FieldError[] {
  const repeated = repeatedAt(list)
  return errorsOfEach(list, (family, index) => [
    ...requireOneOf(family, familiesPath.index(index), families),
    ...(repeated.has(index) ? [fieldError.duplicate(familiesPath.index(index), family)] : []),
  ])
}

function validateEach(addresses: readonly string[]): FieldError[] {
  return errorsOfEach(addresses, (address, index) => {
    if (index > 0 || address !== 'None') return validateAddress(address, addressesPath.index(index))
    return addresses.length > 1
      ? [fieldError.invalid(addressesPath, addresses, "'None' must be the first and only value")]
      : []
  })
}

function validateTogether(addresses: readonly string[], list: readonly string[]): FieldError[] {
  const actual = addresses.map(familyOf)
  const errors: FieldError[] = []
  if (new Set(actual).size < actual.length) {
    errors.push(fieldError.invalid(addressesPath, addresses, 'may specify no more than one IP for each IP family'))
  }
  if (addresses[0] === 'None') return errors
  addresses.forEach((address, index) => {
    const expected = list[index]
    if (expected !== undefined && families.includes(expected) && actual[index] !== expected) {
      errors.push(
        fieldError.invalid(
          addressesPath.index(index),
          address,
          `expected an ${expected} value as indicated by \`ipFamilies[${index}]\``,
        ),
      )
    }
  })
  return errors
}
