extends RefCounted
## How each material breaks up: how much dust and how many chips a square metre of new face gives, and what they look like.


class Look:
	var dust := 0.0 ## puffs a m²
	var chips := 0.0 ## chips a m²
	var chip_size := 0.02 ## m
	var chip_stretch := 1.0 ## length to width
	var chip_gleam := 0.0 ## 0 dull to 1 like glass
	var color := Color(0.6, 0.6, 0.6)


# dust, chips, chip size, stretch, gleam
const PRESETS := {
	"oak": [6.0, 60.0, 0.03, 6.0, 0.0], "pine": [6.0, 70.0, 0.03, 7.0, 0.0], "plywood": [8.0, 60.0, 0.025, 5.0, 0.0],
	"pane_glass": [2.0, 160.0, 0.012, 1.6, 1.0], "tempered_glass": [3.0, 240.0, 0.008, 1.0, 1.0], "ice": [10.0, 90.0, 0.02, 1.3, 0.8],
	"concrete": [40.0, 50.0, 0.025, 1.2, 0.0], "brick": [50.0, 50.0, 0.022, 1.2, 0.0], "stone": [30.0, 50.0, 0.025, 1.3, 0.0],
	"ceramic": [12.0, 80.0, 0.012, 1.4, 0.3], "steel_sheet": [0.0, 6.0, 0.008, 1.0, 0.6], "aluminium": [0.0, 6.0, 0.008, 1.0, 0.6],
	"rubber": [0.0, 6.0, 0.012, 1.0, 0.0], "jelly": [0.0, 30.0, 0.02, 1.0, 0.7], "cardboard": [4.0, 14.0, 0.02, 2.0, 0.0],
	"plaster": [60.0, 50.0, 0.018, 1.2, 0.0], "porcelain": [8.0, 90.0, 0.01, 1.5, 0.5], "sandstone": [45.0, 50.0, 0.022, 1.2, 0.0],
	"tile": [12.0, 80.0, 0.012, 1.4, 0.4], "chocolate": [1.0, 40.0, 0.012, 1.3, 0.1], "plastic": [0.0, 10.0, 0.012, 1.6, 0.3],
}
# By MaterialResource.SplinterPattern, for materials of one's own: none, Voronoi, glass, wood, bricks, surfaces.
const PATTERNS := [[0.0, 6.0, 0.01, 1.0, 0.0], [25.0, 50.0, 0.02, 1.3, 0.0], [2.0, 160.0, 0.012, 1.6, 1.0], [6.0, 60.0, 0.03, 6.0, 0.0],
	[50.0, 50.0, 0.022, 1.2, 0.0], [15.0, 40.0, 0.02, 1.3, 0.0]]

var _known: Dictionary[MaterialResource, Look] = {}


func of(body: DestructibleBody) -> Look:
	var material := body.material
	if material == null and not body.region_materials.is_empty():
		material = body.region_materials[0]
	if not _known.has(material):
		_known[material] = _make(material)
	return _known[material]


func _make(material: MaterialResource) -> Look:
	var look := Look.new()
	if material == null:
		return look
	var preset := material.resource_path.get_file().get_basename()
	var pattern := clampi(material.splinter_pattern, 0, PATTERNS.size() - 1)
	var values: Array = PRESETS.get(preset, PATTERNS[pattern])
	look.dust = values[0]
	look.chips = values[1]
	look.chip_size = values[2]
	look.chip_stretch = values[3]
	look.chip_gleam = values[4]
	look.color = _color_of(material.interior_material if material.interior_material != null else material.surface_material)
	return look


## The mean of what its texture is made of.
static func _color_of(material: Material) -> Color:
	var plain := material as BaseMaterial3D
	if plain == null:
		return Color(0.6, 0.6, 0.6)
	var noise := plain.albedo_texture as NoiseTexture2D
	var color := plain.albedo_color
	if noise != null and noise.color_ramp != null:
		color *= noise.color_ramp.sample(0.5)
	color.a = 1.0
	return color
