/**
 * Which namespace a command is about.
 */
import type { Client, DiscoveredResource } from 'evenkeel/client'
import type { OptionValues } from '../frame/command.ts'
import { Failure } from '../frame/failure.ts'

/** Undefined: all of them, or a kind that has none. @throws {Failure} `usage` */
export function namespaceOf(
  values: OptionValues,
  { namespaced }: Pick<DiscoveredResource, 'namespaced'>,
  { namespace = 'default' }: Pick<Client, 'namespace'>,
): string | undefined {
  const given = values.text('namespace')
  if (values.flag('all-namespaces') && given !== undefined)
    throw new Failure('usage', 'give --namespace or --all-namespaces, not both')
  if (!namespaced || values.flag('all-namespaces')) return undefined
  return given ?? namespace
}
