import { vi } from 'vitest';

// Runs before each spec file. Files share a worker, so that Nest is loaded once; everything of this repository is
// loaded anew, and nothing that an earlier file has replaced is left.
vi.resetModules();
vi.useRealTimers();
vi.restoreAllMocks();
vi.unstubAllEnvs();
