/**
 * Certificates that a program is to trust, where hosts expect them:
 *
 *   FOLDER/NAME/cert.pem              all of them
 *   FOLDER/NAME/certs/THUMBPRINT.pem  each
 *   FOLDER/NAME/certs/5ad8a5d6.0      the same under the name by which OpenSSL looks for it in a folder
 *
 * Invariant: the files are there before the program starts, and gone with its object.
 */
import { X509Certificate } from 'node:crypto'
import type { Files } from '@evenkeel/workloads'
import type { KubeObject } from 'evenkeel'
import { isSet, recordsOf, textOf, valuesOf, type Values } from '../rules/field-values.ts'
import { SpecError } from './service-producers.ts'
import { subjectHash } from './subject-hash.ts'

interface CertificateFolderOptions {
  readonly files: Pick<Files, 'replaceText' | 'removeFile'>
  readonly folder: string
}

export class CertificateFolder {
  readonly #options: CertificateFolderOptions

  constructor(options: CertificateFolderOptions) {
    this.#options = options
  }

  /** @throws {SpecError} for a certificate that cannot be read, unless the spec says to go on */
  async write(object: KubeObject): Promise<void> {
    for (const [path, text] of this.#filesOf(object)) await this.#options.files.replaceText(path, text)
  }

  async remove(object: KubeObject): Promise<void> {
    for (const [path] of this.#filesOf(object, { isLenient: true })) await this.#options.files.removeFile(path)
  }

  #filesOf(object: KubeObject, { isLenient = false } = {}): readonly (readonly [path: string, text: string])[] {
    const spec = valuesOf(valuesOf(object as object as Values, 'spec'), 'pemCertificates')
    if (!spec) return []
    const folder = `${this.#options.folder}/${object.metadata.name}`
    const continues = isLenient || isSet(spec, 'continueOnError')
    const files = new Map<string, string>()
    const all: string[] = []
    for (const certificate of recordsOf(spec, 'certificates')) {
      const contents = textOf(certificate, 'contents')
      try {
        const hash = subjectHash(new X509Certificate(contents))
        files.set(`${folder}/certs/${textOf(certificate, 'thumbprint')}.pem`, contents)
        let count = 0
        while (files.has(`${folder}/certs/${hash}.${count}`)) count++
        files.set(`${folder}/certs/${hash}.${count}`, contents)
        all.push(contents)
      } catch (error) {
        if (!continues)
          throw new SpecError(
            `the certificate ${textOf(certificate, 'thumbprint')} cannot be read: ${(error as Error).message}`,
          )
      }
    }
    return [...files, [`${folder}/cert.pem`, all.join('\n')]]
  }
}
