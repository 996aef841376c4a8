extends Node
## Takes, for every tick, the time from one start of `_process` to the next: all physics, scripts of the tick and what a
## headless game does besides, which is next to nothing. `times` are of the clock, `processor` of all threads of the
## process together, both in ms.
##
## Needs a tick for each frame (`--fixed-fps 60`), and Linux for the processor's time.

const THREADS_TICKS := 30 # after so many the threads of the process are listed anew

var times := PackedFloat64Array()
var processor := PackedFloat64Array()
var _begun := 0 # us
var _spent := 0 # ns
var _threads: Array[String] = []
var _age := THREADS_TICKS


func _init() -> void:
	process_priority = -1000


func start_over() -> void:
	_begun = 0
	times.clear()
	processor.clear()


func _process(_delta: float) -> void:
	if _begun:
		times.append(1e-3 * (Time.get_ticks_usec() - _begun))
		processor.append(1e-6 * (_processor_ns() - _spent))
	_age += 1
	if _age >= THREADS_TICKS:
		_threads.assign(DirAccess.get_directories_at("/proc/self/task"))
		_age = 0
	_spent = _processor_ns()
	_begun = Time.get_ticks_usec()


func _processor_ns() -> int:
	var sum := 0
	for thread in _threads:
		var file := FileAccess.open("/proc/self/task/%s/schedstat" % thread, FileAccess.READ)
		if file: # the first number: time on a processor
			sum += file.get_line().get_slice(" ", 0).to_int()
	return sum


## Mean, p50, p99 and max of the processor's time.
func summary() -> Dictionary:
	if processor.is_empty():
		return {"p50": 0.0, "p99": 0.0, "max": 0.0, "mean": 0.0}
	var sorted := processor.duplicate()
	sorted.sort()
	var sum := 0.0
	for time in sorted:
		sum += time
	var count := sorted.size()
	return {"p50": sorted[count / 2], "p99": sorted[count * 99 / 100], "max": sorted[-1], "mean": sum / count}
