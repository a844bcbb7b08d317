/**
 * The steps of the users of the right controllers: create an object, change it, delete it.
 */
import type { Kind, KubeObject } from 'evenkeel'
import type { ProcessContext, UserStep } from 'evenkeel/testing'

/** A service as a program reaches it: every call takes time and may fail. */
type Called<T> = {
  [Name in keyof T]: T[Name] extends (...parameters: infer P) => infer R
    ? (...parameters: P) => Promise<Awaited<R>>
    : T[Name]
}

/** What a program with these services receives when one of its processes starts. */
export type Process<Services extends object> = ProcessContext<{ [Name in keyof Services]: Called<Services[Name]> }>

function placeOf({ scope }: Kind, name: string): { readonly name: string; readonly namespace?: string } {
  return scope === 'Cluster' ? { name } : { name, namespace: 'default' }
}

/** @param content what the object has beside its metadata: `{ spec: { size: 1 } }` */
export function creates(kind: Kind, name: string, content: object = {}): UserStep {
  const object: KubeObject = { ...content, apiVersion: kind.apiVersion, kind: kind.kind, metadata: placeOf(kind, name) }
  return { name: `creates ${kind.kind} ${name}`, run: (user) => user.create(object) }
}

/** @param change a merge patch: `{ spec: { size: 2 } }` */
export function changes(kind: Kind, name: string, change: object): UserStep {
  return {
    name: `changes ${kind.kind} ${name}`,
    run: async (user) => user.patch(await user.get(kind, placeOf(kind, name)), { ...change }),
  }
}

export function deletes(kind: Kind, name: string): UserStep {
  return {
    name: `deletes ${kind.kind} ${name}`,
    run: async (user) => user.delete(await user.get(kind, placeOf(kind, name))),
  }
}
