/**
 * The OpenAPI documents: the v3 index, a v3 document per group version, and one v2 document of everything.
 *
 * Documents are built on first use and cached. An OpenApi never changes: when resources do, a new one replaces it and
 * reuses every document whose resources are unchanged.
 */
import { parseJson, stringifyJson, type JsonObject } from '#api'
import type { Resource } from '@evenkeel/builtins'
import { makeDocument, type ServedDocument } from '../discovery/document.ts'
import { groupResources, type ServedVersion } from '../discovery/groups.ts'
import { documentV2 } from './document-v2.ts'
import { isCustom } from './document-parts.ts'
import { describeNonResource, documentV3 } from './document-v3.ts'
import { nonResourceOperations } from './non-resource-operations.ts'
import { encodeMerged, remoteIndex, withRemotePaths, type RemoteOpenApi } from './remote.ts'

interface OpenApiOptions {
  /** The one to be replaced. @default none */
  readonly previous?: OpenApi
  /** Group versions that other servers serve. @default none */
  readonly remote?: readonly RemoteOpenApi[]
}

interface OpenApiDocumentOptions {
  /** The v2 document as gnostic protobuf; there is no such form of v3. @default false */
  readonly protobuf?: boolean
}

/** The media type of the v2 document as protobuf. */
const openApiProtobufType = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'

export class OpenApi {
  readonly #versions: ReadonlyMap<string, ServedVersion>
  readonly #plain: ReturnType<typeof nonResourceOperations>
  readonly #remote: readonly RemoteOpenApi[]
  readonly #documents = new Map<string, ServedDocument>()

  constructor(resources: readonly Resource[], { previous, remote = [] }: OpenApiOptions = {}) {
    this.#remote = remote
    const served = new Set(remote.map(({ group, version }) => `${group}/${version}`))
    const groups = groupResources(resources.filter(({ group, version }) => !served.has(`${group}/${version}`)))
    const versions = groups.flatMap((group) => group.versions)
    const builtin = groups.filter((group) => !group.versions.every(isCustom))
    this.#plain = nonResourceOperations(builtin.map(({ name }) => name).filter((name) => name !== ''))
    this.#versions = new Map(versions.map((served) => [pathOf(served), served]))
    for (const [path, served] of this.#versions) {
      const kept = previous?.reusable(path, served)
      if (kept) this.#documents.set(path, kept)
    }
  }

  /** The document at a path (`/openapi/v3`, `/openapi/v3/apis/apps/v1`, `/openapi/v2`), or undefined. */
  document(path: string, { protobuf = false }: OpenApiDocumentOptions = {}): ServedDocument | undefined {
    if (path === '/openapi/v2') return protobuf ? this.#swaggerProtobuf() : this.#swagger()
    if (protobuf) return undefined
    if (path === '/openapi/v3')
      return this.#keep('index', () => makeDocument(JSON.stringify(this.#index()), 'application/json'))
    return path.startsWith('/openapi/v3/') ? this.#versionDocument(path.slice('/openapi/v3/'.length)) : undefined
  }

  /** A finished document, if it was built from the same resources. */
  reusable(path: string, { resources }: ServedVersion): ServedDocument | undefined {
    const mine = this.#versions.get(path)?.resources
    const isSame = mine?.length === resources.length && mine.every((resource, index) => resource === resources[index])
    return isSame ? this.#documents.get(path) : undefined
  }

  #index(): { readonly paths: Readonly<Record<string, { readonly serverRelativeURL: string }>> } {
    const entries = [...this.#versions.keys(), ...this.#plain.keys()].map((path) => {
      const hash = this.#versionDocument(path)?.etag.slice(1, -1)
      return [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }] as const
    })
    return { paths: Object.fromEntries([...entries, ...remoteIndex(this.#remote)]) }
  }

  #versionDocument(path: string): ServedDocument | undefined {
    const served = this.#versions.get(path)
    const plain = this.#plain.get(path)
    if (served) return this.#keep(path, () => makeDocument(stringifyJson(documentV3(served)), 'application/json'))
    return plain && this.#keep(path, () => makeDocument(JSON.stringify(describeNonResource(plain)), 'application/json'))
  }

  #localSwagger(): JsonObject {
    return documentV2([...this.#versions.values()], { others: this.#plain.values() })
  }

  #swagger(): ServedDocument {
    return this.#keep('swagger', () =>
      makeDocument(stringifyJson(withRemotePaths(this.#localSwagger(), this.#remote)), 'application/json'),
    )
  }

  /** The hash is that of the JSON form; the `Vary` header separates the two forms in caches. */
  #swaggerProtobuf(): ServedDocument {
    return this.#keep('swagger protobuf', () => {
      const { bytes, etag } = this.#swagger()
      const content = parseJson(Buffer.from(bytes).toString()) as JsonObject
      const encoded = encodeMerged(content, () => this.#localSwagger())
      return { bytes: encoded, etag, contentType: openApiProtobufType }
    })
  }

  #keep(key: string, make: () => ServedDocument): ServedDocument {
    const document = this.#documents.get(key) ?? make()
    this.#documents.set(key, document)
    return document
  }
}

/** Keys of the index are paths, so they cannot collide with the names of other documents. */
function pathOf({ group, version }: ServedVersion): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`
}
