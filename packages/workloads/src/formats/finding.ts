/**
 * What a reader of a file returns: objects, and findings with the line and the path of the field.
 *
 *   compose.yaml:7: services.web.privileged: not supported; it is ignored
 *   └ file       └ line └ path                └ what is wrong and what to write instead
 *
 * Invariant: a field of a file is mapped, or it is named in a warning, or it is an error. Nothing is ignored in silence.
 */

/** An object of any kind, as a file describes it. */
export interface WorkloadObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectNames
  readonly spec?: Readonly<Record<string, unknown>>
}

export interface ObjectNames {
  readonly name: string
  readonly namespace?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

/** Where something is in a file. */
export interface Place {
  readonly file: string
  readonly line: number
  /** Of the field: `services.web.ports[0]`. */
  readonly path: string
}

/** An object, and where it is described. */
export interface FileObject extends Omit<Place, 'path'> {
  readonly object: WorkloadObject
}

export interface Finding extends Place {
  /** What is wrong, and what to write instead. */
  readonly message: string
}

export interface FileContents {
  readonly objects: readonly FileObject[]
  /** What is ignored. */
  readonly warnings: readonly Finding[]
  /** What would change the meaning if it were ignored. */
  readonly errors: readonly Finding[]
}

/** `compose.yaml:7: services.web.extends: …` */
export function formatFinding({ file, line, path, message }: Finding): string {
  return `${file}:${line}: ${path === '' ? '' : `${path}: `}${message}`
}

/** Collects findings. */
export class Findings {
  readonly warnings: Finding[] = []
  readonly errors: Finding[] = []

  warn({ file, line, path }: Place, message: string): void {
    this.warnings.push({ file, line, path, message })
  }

  error({ file, line, path }: Place, message: string): void {
    this.errors.push({ file, line, path, message })
  }

  /** With these objects: in the order of the lines. */
  contents(objects: readonly FileObject[]): FileContents {
    const byLine = (a: Finding, b: Finding): number => a.line - b.line
    return { objects, warnings: this.warnings.toSorted(byLine), errors: this.errors.toSorted(byLine) }
  }
}
