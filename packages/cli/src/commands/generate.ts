/**
 * `evenkeel generate`: prints what a cluster needs before a program can run on it.
 */
import type { RunOptions } from 'evenkeel'
import type { Command } from '../command.ts'
import { loadModule, type UserModule } from '../modules.ts'

export const generate: Command = {
  name: 'generate',
  about: 'print the CRDs and roles of a program, for kubectl apply',
  usage: 'MODULE ...',
  words: { least: 1, most: Infinity },
  completes: 'files',
  options: {
    only: { type: 'string', choices: ['crds', 'rbac'], about: 'only the CustomResourceDefinitions, or only the roles' },
    namespace: { type: 'string', short: 'n', value: 'NAME', about: 'the namespace of the program (default: default)' },
    'service-account': {
      type: 'string',
      value: 'NAME',
      about: 'the service account of the program (default: the name of the program)',
    },
  },
  details: 'The kinds of the verbs (Operation, ExternalRef and others) are included where a program uses them.',
  examples: [
    'evenkeel generate app.ts | kubectl apply -f -',
    'evenkeel generate app.ts --only crds',
    'evenkeel generate app.ts --namespace websites --json',
  ],
  async run({ words, values, io, json }) {
    const modules: UserModule[] = []
    for (const file of words) modules.push(await loadModule(file, { cwd: io.cwd }))
    const { manifestsOf } = await import('evenkeel/unstable/plane')
    const { crds, rbac } = manifestsOf(optionsOf(modules), {
      namespace: values.text('namespace') ?? 'default',
      serviceAccount: values.text('service-account'),
    })
    const only = values.text('only')
    const objects = only === 'crds' ? crds : only === 'rbac' ? rbac : [...crds, ...rbac]
    if (json) io.stdout.write(`${JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }, undefined, 2)}\n`)
    else {
      const { stringify } = await import('yaml')
      io.stdout.write(objects.map((object) => stringify(object, { aliasDuplicateObjects: false })).join('---\n'))
    }
    return 0
  },
}

function optionsOf(modules: readonly UserModule[]): RunOptions {
  const programs = modules.flatMap(({ program }) => program ?? [])
  const { name } = programs.find((program) => program.name !== undefined) ?? {}
  const { leaderElection } = programs.find((program) => program.leaderElection !== undefined) ?? {}
  return {
    controllers: modules.flatMap(({ controllers }) => controllers),
    kinds: modules.flatMap(({ kinds }) => kinds),
    ...(name !== undefined && { name }),
    ...(leaderElection !== undefined && { leaderElection }),
  }
}
