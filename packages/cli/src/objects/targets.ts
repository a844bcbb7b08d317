/**
 * The objects that a command line names, read from the server.
 */
import type { KubeObject } from 'evenkeel/api'
import type { Client } from 'evenkeel/client'
import type { Invocation } from '../frame/command.ts'
import { Failure } from '../frame/failure.ts'
import { lookUp } from './lookup.ts'
import { namespaceOf } from './scope.ts'

/** Those of `KIND`, `KIND NAME ...` or `KIND/NAME ...`. @throws {ApiError} `NotFound`; {@link Failure} `usage` */
export async function readTargets(
  client: Client,
  { words, values, io: { signal } }: Invocation,
): Promise<readonly KubeObject[]> {
  const objects: KubeObject[] = []
  for (const {
    resource: { apiVersion, kind, namespaced },
    names,
  } of await lookUp(client, words)) {
    const namespace = namespaceOf(values, { namespaced }, client)
    if (names.length > 0 && namespaced && namespace === undefined)
      throw new Failure('usage', 'objects are read by name in one namespace: give -n instead of -A')
    const place = namespace === undefined ? {} : { namespace }
    if (names.length === 0)
      objects.push(
        ...(await client.list({ apiVersion, kind }, { ...place, signal })).items.map((item) => ({
          ...item,
          apiVersion,
          kind,
        })),
      )
    for (const name of names) objects.push(await client.get({ apiVersion, kind }, { name, ...place }, { signal }))
  }
  return objects
}

/** The one object of `KIND/NAME` or `KIND NAME`. @throws {Failure} `usage` */
export async function readTarget(client: Client, call: Invocation): Promise<KubeObject> {
  const objects = await readTargets(client, call)
  const [object] = objects
  if (object && objects.length === 1) return object
  throw new Failure('usage', `name one object: KIND/NAME`, {
    hint: objects[0] ? `${objects[0].kind.toLowerCase()}/${objects[0].metadata.name ?? ''}` : undefined,
  })
}
