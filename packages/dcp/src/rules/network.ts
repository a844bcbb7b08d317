/**
 * What a network and a tunnel out of one have to be, and what may not change.
 */
import { fieldError, type FieldError, type FieldPath } from 'evenkeel/server'
import { fixedFields, type SpecChange } from './changes.ts'
import { isSame, itemsOf, recordsOf, textOf, type Values } from './field-values.ts'
import { effectiveMode } from './modes.ts'

export function networkErrors(spec: Values, path: FieldPath): FieldError[] {
  const mode = effectiveMode(spec)
  return mode !== 'session' && textOf(spec, 'networkName') === ''
    ? [fieldError.required(path.child('networkName'), `mode ${mode} finds the network by its name`)]
    : []
}

export function networkChanges(change: SpecChange): FieldError[] {
  const { old, spec, path } = change
  return [
    ...fixedFields(change, ['networkName', 'ipv6', 'persistent']),
    ...(effectiveMode(old) === effectiveMode(spec)
      ? []
      : [fieldError.forbidden(path.child('mode'), 'mode cannot change after creation')]),
  ]
}

export function tunnelProxyErrors(spec: Values, path: FieldPath): FieldError[] {
  const tunnels = recordsOf(spec, 'tunnels')
  const names = tunnels.map((tunnel) => textOf(tunnel, 'name'))
  return [
    ...(textOf(spec, 'containerNetworkName') === ''
      ? [fieldError.required(path.child('containerNetworkName'), 'the network that the tunnels lead out of')]
      : []),
    ...tunnels.flatMap((tunnel, index) => tunnelErrors(tunnel, path.child('tunnels').index(index))),
    ...names.flatMap((name, index) =>
      name !== '' && names.indexOf(name) < index
        ? [fieldError.duplicate(path.child('tunnels').index(index).child('name'), name)]
        : [],
    ),
  ]
}

function tunnelErrors(tunnel: Values, path: FieldPath): FieldError[] {
  return ['name', 'serverServiceName', 'clientServiceName'].flatMap((name) =>
    textOf(tunnel, name) === '' ? [fieldError.required(path.child(name), 'may not be empty')] : [],
  )
}

/** Tunnels come and go; one that stays keeps its ends. */
export function tunnelProxyChanges(change: SpecChange): FieldError[] {
  const { old, spec, path } = change
  const before = new Map(recordsOf(old, 'tunnels').map((tunnel) => [textOf(tunnel, 'name'), tunnel]))
  const [oldAliases, aliases] = [old, spec].map((values) => itemsOf(values, 'aliases').map(String).sort())
  return [
    ...fixedFields(change, ['containerNetworkName', 'baseImage']),
    ...(isSame(oldAliases, aliases)
      ? []
      : [fieldError.forbidden(path.child('aliases'), 'aliases cannot change after creation')]),
    ...recordsOf(spec, 'tunnels').flatMap((tunnel, index) => {
      const known = before.get(textOf(tunnel, 'name'))
      return known === undefined || isSame(known, tunnel)
        ? []
        : [
            fieldError.forbidden(
              path.child('tunnels').index(index),
              'a tunnel keeps its ends: remove it and add another',
            ),
          ]
    }),
  ]
}
