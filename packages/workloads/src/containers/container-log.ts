/** The last container of an object, and its log as bytes: what the subresource `log` of a Container answers. */
import type { ContainerObject } from './container-kind.ts'
import { labelOf, parseRunLabel } from './container-labels.ts'
import type { ContainerRuntime, ContainerSummary } from './container-runtime.ts'

export interface ContainerLogOptions {
  /** Go on until the container ends. @default false */
  readonly follow?: boolean
  /** Only the last lines. @default all */
  readonly tailLines?: number
  /** Only what was written since, in milliseconds since 1970. @default all */
  readonly since?: number
  /** Each line begins with the time at which it was written. @default false */
  readonly timestamps?: boolean
  readonly signal?: AbortSignal
}

/** Stdout and stderr of the last container of an object, in the order in which they were written. Nothing before its first run. */
export async function* logOfContainer(
  { metadata }: Pick<ContainerObject, 'metadata'>,
  {
    findRuntime,
    follow,
    tailLines,
    since,
    timestamps,
    signal,
  }: ContainerLogOptions & { readonly findRuntime: () => Promise<ContainerRuntime> },
): AsyncGenerator<Uint8Array> {
  const runtime = await findRuntime()
  const last = await findLastContainer(runtime, metadata.uid)
  if (!last) return
  const pieces = runtime.streams.logs(last.id, {
    ...(follow !== undefined && { follow }),
    ...(tailLines !== undefined && { tailLines }),
    ...(since !== undefined && { sinceMs: since }),
    ...(timestamps !== undefined && { timestamps }),
    ...(signal && { signal }),
  })
  for await (const { bytes } of pieces) yield bytes
}

/** The container of the last run of an object that was started. */
export async function findLastContainer(runtime: ContainerRuntime, uid: string): Promise<ContainerSummary | undefined> {
  const listed = await runtime.listContainers({ [labelOf.uid]: uid })
  return listed
    .filter(({ state }) => state !== 'created')
    .toSorted((a, b) => (parseRunLabel(a.labels)?.number ?? 0) - (parseRunLabel(b.labels)?.number ?? 0))
    .at(-1)
}
