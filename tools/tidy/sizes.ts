/**
 * The length of files and functions, the number of parameters, and the size of folders.
 */
import { posix } from 'node:path'
import ts from 'typescript'
import { findingAt, visit, type Finding, type House, type HouseFile } from './house.ts'
import { caseFiles, limits } from './rules.ts'

/** The largest of each, for the report: size and position. */
export interface Measure {
  readonly size: number
  readonly what: string
  readonly finding: Finding
}

export type Measures = Readonly<Record<keyof typeof limits, readonly Measure[]>>

/** Everything above its limit. */
export function checkSizes(house: House): Finding[] {
  const measures = measure(house)
  return (Object.keys(limits) as (keyof typeof limits)[]).flatMap((name) =>
    measures[name]
      .filter(({ size }) => size > limits[name])
      .map(({ size, what, finding }) => ({ ...finding, message: `${what}: ${size}, the limit is ${limits[name]}` })),
  )
}

/** All sizes, largest first. */
export function measure(house: House): Measures {
  const files = [...house.files.values()]
  const functions = files.flatMap((file) => functionsOf(file).map((node) => ({ file, node })))
  return {
    fileLines: fileLines(files.filter(({ path }) => !caseFiles.test(path))),
    caseLines: fileLines(files.filter(({ path }) => caseFiles.test(path))),
    functionLines: functionLines(functions.filter(({ file }) => !caseFiles.test(file.path))),
    caseFunctionLines: functionLines(functions.filter(({ file }) => caseFiles.test(file.path))),
    parameters: sorted(
      functions.map(({ file, node }) =>
        toMeasure(`parameters of ${nameOf(node)}`, parametersOf(node), findingAt(file, node, '')),
      ),
    ),
    folderFiles: sorted(foldersOf(files)),
    folderDepth: sorted(
      files.map((file) => toMeasure('folders below the layer', depthOf(file), findingAt(file, 0, ''))),
    ),
  }
}

interface FunctionIn {
  readonly file: HouseFile
  readonly node: ts.SignatureDeclaration
}

function fileLines(files: readonly HouseFile[]): Measure[] {
  return sorted(files.map((file) => toMeasure('lines of file', linesOf(file, file.source), findingAt(file, 0, ''))))
}

function functionLines(functions: readonly FunctionIn[]): Measure[] {
  return sorted(
    functions
      .filter(({ node }) => hasBody(node) && !isGroup(node))
      .map(({ file, node }) => toMeasure(`lines of ${nameOf(node)}`, linesOf(file, node), findingAt(file, node, ''))),
  )
}

/** `packages/evenkeel/src/LAYER/a/b/file.ts` is two folders deep; in other packages `src` is where counting starts. */
function depthOf({ path }: HouseFile): number {
  const [, owner, inside] = /^packages\/([^/]+)\/src\/(.*)$/.exec(path) ?? []
  if (inside === undefined) return 0
  return inside.split('/').length - (owner === 'evenkeel' ? 2 : 1)
}

function toMeasure(what: string, size: number, finding: Finding): Measure {
  return { what, size, finding }
}

function sorted(measures: Measure[]): Measure[] {
  return measures.sort((a, b) => b.size - a.size)
}

function functionsOf(file: HouseFile): ts.SignatureDeclaration[] {
  const found: ts.SignatureDeclaration[] = []
  visit(file.source, (node) => {
    if (ts.isFunctionLike(node)) found.push(node)
  })
  return found
}

function hasBody(node: ts.SignatureDeclaration): boolean {
  return 'body' in node && node.body !== undefined
}

/** The function of a `describe` only groups tests: its length does not count. */
function isGroup({ parent }: ts.Node): boolean {
  return ts.isCallExpression(parent) && /^describe\b/.test(parent.expression.getText())
}

function linesOf({ source }: HouseFile, node: ts.Node): number {
  const start = ts.isSourceFile(node) ? 0 : node.getStart(source)
  const end = ts.isSourceFile(node) ? node.text.trimEnd().length : node.end
  return source.getLineAndCharacterOfPosition(end).line - source.getLineAndCharacterOfPosition(start).line + 1
}

function parametersOf(node: ts.SignatureDeclaration): number {
  return node.parameters.filter(({ name }) => name.getText() !== 'this').length
}

function nameOf(node: ts.SignatureDeclaration): string {
  if (ts.isConstructorDeclaration(node)) return 'constructor'
  if (node.name) return node.name.getText()
  const { parent } = node
  return ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent) || ts.isPropertyDeclaration(parent)
    ? parent.name.getText()
    : 'a nameless function'
}

/** Source files per folder; tests and fixtures do not count. */
function foldersOf(files: readonly HouseFile[]): Measure[] {
  const folders = new Map<string, number>()
  for (const { path, isTest, isFixture } of files) {
    if (isTest || isFixture) continue
    const folder = posix.dirname(path)
    folders.set(folder, (folders.get(folder) ?? 0) + 1)
  }
  return [...folders].map(([folder, count]) =>
    toMeasure('files in folder', count, { path: folder, line: 1, message: '' }),
  )
}
