import { join } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';

const root = join(__dirname, '../../..');

/** What the compiler says of a file in test/types that has this text. */
function messagesOf(text: string): string[] {
  const file = join(root, 'test/types/made-up.ts');
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, root);
  const host = ts.createCompilerHost(options);
  const { fileExists, getSourceFile } = host;
  host.fileExists = (path) => path === file || fileExists(path);
  host.getSourceFile = (path, version) =>
    path === file ? ts.createSourceFile(path, text, version) : getSourceFile(path, version);
  const program = ts.createProgram([file], options, host);
  return program
    .getSemanticDiagnostics(program.getSourceFile(file))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

function handlerReturning(type: string): string {
  return `import { Subscribe } from 'nestjs-settle';
    export class Billing {
      @Subscribe({ queue: 'billing' })
      charge(): ${type} { throw new Error(); }
    }`;
}

it('the compiler says what a handler has to return', () => {
  for (const type of ['Promise<unknown>', 'string', 'Promise<{ id: number }>']) {
    expect(messagesOf(handlerReturning(type)).join('\n')).toContain(
      'A method with @Subscribe has to return an Outcome or nothing',
    );
  }
  expect(messagesOf(handlerReturning('Promise<any>'))).toEqual([]);
}, 60_000);
