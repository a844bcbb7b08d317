/**
 * A part of a configuration file, read field by field; errors about the type of a field name file and path.
 */
import { getOwn, isJsonObject, type JsonObject, type JsonValue } from '#api'

export class Field {
  readonly value: JsonObject
  /** Where it was read. */
  readonly file: string
  readonly #path: string

  constructor(value: JsonObject, { file, path = '' }: { readonly file: string; readonly path?: string }) {
    this.value = value
    this.file = file
    this.#path = path
  }

  /** For messages: `/home/me/.kube/config: users[0].user`. */
  get where(): string {
    return this.#path === '' ? this.file : `${this.file}: ${this.#path}`
  }

  /** The text of a field; undefined when it is absent, empty or null, which mean the same here. */
  text(name: string): string | undefined {
    const value = this.#get(name)
    if (value === undefined || value === null || value === '') return undefined
    // YAML reads a token of digits as a number.
    if (typeof value === 'number' || typeof value === 'boolean') return String(value)
    if (typeof value !== 'string') throw this.#wrong(name, 'a text')
    return value
  }

  texts(name: string): string[] {
    const value = this.#get(name) ?? []
    if (!Array.isArray(value) || !value.every((item) => typeof item === 'string'))
      throw this.#wrong(name, 'a list of texts')
    return [...value]
  }

  flag(name: string): boolean {
    const value = this.#get(name) ?? false
    if (typeof value !== 'boolean') throw this.#wrong(name, 'true or false')
    return value
  }

  /** A base64 field, decoded as text. */
  base64(name: string): string | undefined {
    const text = this.text(name)?.replace(/\s+/g, '')
    if (text === undefined) return undefined
    if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/.test(text))
      throw this.#wrong(name, 'base64')
    return Buffer.from(text, 'base64').toString('utf8')
  }

  /** The object under a name; an absent one is empty. */
  object(name: string): Field {
    const value = this.#get(name) ?? {}
    if (!isJsonObject(value)) throw this.#wrong(name, 'an object')
    return new Field(value, { file: this.file, path: this.#pathOf(name) })
  }

  list(name: string): Field[] {
    const value = this.#get(name) ?? []
    if (!Array.isArray(value)) throw this.#wrong(name, 'a list')
    return value.map((item: JsonValue, index) => {
      const path = `${this.#pathOf(name)}[${index}]`
      if (!isJsonObject(item)) throw new ConfigError(`${this.file}: ${path} must be an object`)
      return new Field(item, { file: this.file, path })
    })
  }

  #get(name: string): JsonValue | undefined {
    return getOwn(this.value, name)
  }

  #pathOf(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`
  }

  #wrong(name: string, what: string): ConfigError {
    return new ConfigError(`${this.file}: ${this.#pathOf(name)} must be ${what}`)
  }
}

/**
 * A mistake in the configuration of a client: one line that names the file, the field and what to do.
 */
const brand = Symbol.for('evenkeel.ConfigError')

export class ConfigError extends Error {
  override readonly name = 'ConfigError'

  constructor(message: string, { cause }: { cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause })
  }

  get [brand](): true {
    return true
  }
}

/** Whether something thrown is a {@link ConfigError}, of this or another copy of the package. */
export function isConfigError(error: unknown): error is ConfigError {
  return typeof error === 'object' && error !== null && (error as { [brand]?: unknown })[brand] === true
}
